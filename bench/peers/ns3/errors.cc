// Replaces the library's function of this name in the programs: the error model of the run, or a plain threshold. A
// subclass could not do that, since ErrorRateModel takes 802.11b's rates to its own formulas before it asks a subclass.
#include "errors.h"

#include "ns3/dsss-error-rate-model.h"
#include "ns3/error-rate-model.h"
#include "ns3/wifi-tx-vector.h"
#include <cmath>

static double g_threshold = 0;
static bool g_coded = false;

void
LoseBelow(double decibels)
{
    g_threshold = decibels > 0 ? std::pow(10, decibels / 10) : 0;
}

void
DecodeLdpc(bool coded)
{
    g_coded = coded;
}

double
ns3::ErrorRateModel::GetChunkSuccessRate(WifiMode mode,
                                         const WifiTxVector& txVector,
                                         double snr,
                                         uint64_t nbits,
                                         uint8_t numRxAntennas,
                                         WifiPpduField field,
                                         uint16_t staId) const
{
    if (g_threshold > 0)
    {
        return snr >= g_threshold;
    }
    const auto modulation = mode.GetModulationClass();
    if (g_coded && modulation >= WIFI_MOD_CLASS_HT && field == WIFI_PPDU_FIELD_DATA)
    {
        auto coded = txVector;
        coded.SetLdpc(true);
        return DoGetChunkSuccessRate(mode, coded, snr, nbits, numRxAntennas, field, staId);
    }
    if (modulation != WIFI_MOD_CLASS_DSSS && modulation != WIFI_MOD_CLASS_HR_DSSS)
    {
        return DoGetChunkSuccessRate(mode, txVector, snr, nbits, numRxAntennas, field, staId);
    }
    switch (mode.GetDataRate(22))
    {
    case 1000000:
        return DsssErrorRateModel::GetDsssDbpskSuccessRate(snr, nbits);
    case 2000000:
        return DsssErrorRateModel::GetDsssDqpskSuccessRate(snr, nbits);
    case 5500000:
        return DsssErrorRateModel::GetDsssDqpskCck5_5SuccessRate(snr, nbits);
    default:
        return DsssErrorRateModel::GetDsssDqpskCck11SuccessRate(snr, nbits);
    }
}
