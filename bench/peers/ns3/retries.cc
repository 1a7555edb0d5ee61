// Replaces the library's function of this name in the programs: no attribute chooses what it does.
#include "retries.h"

#include "ns3/wifi-mac-header.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/wifi-tx-vector.h"

static bool g_inARow = false;

void
CountFailuresInARow()
{
    g_inARow = true;
}

void
ns3::WifiRemoteStationManager::ReportAmpduTxStatus(Mac48Address address,
                                                   uint16_t nSuccessfulMpdus,
                                                   uint16_t nFailedMpdus,
                                                   double rxSnr,
                                                   double dataSnr,
                                                   WifiTxVector vector)
{
    if (g_inARow && nSuccessfulMpdus > 0)
    {
        m_ssrc.fill(0);
    }
    for (uint16_t i = 0; i < nFailedMpdus; i++)
    {
        m_macTxDataFailed(address);
    }
    DoReportAmpduTxStatus(Lookup(address), nSuccessfulMpdus, nFailedMpdus, rxSnr, dataSnr, vector.GetChannelWidth(),
                          vector.GetNss());
}
