// Network (o), overlapping channels: an access point of 802.11ax over 80 MHz, whose primary channel is 36, and one over 20
// MHz on --channel send to a station each. Needs ns-3.44.
#include "cells.h"

static bool g_wide = false;

// Replaces the library's function of this name: no attribute chooses the width of BlockAcks, which is 20 MHz.
WifiTxVector
WifiRemoteStationManager::GetBlockAckTxVector(Mac48Address to, const WifiTxVector& data) const
{
    const WifiMode mode = GetControlAnswerMode(data.GetMode(GetStaId(to, data)));
    WifiTxVector tx;
    tx.SetMode(mode);
    tx.SetPreambleType(GetPreambleForTransmission(mode.GetModulationClass(), GetShortPreambleEnabled()));
    tx.SetTxPowerLevel(GetDefaultTxPowerLevel());
    tx.SetChannelWidth(g_wide ? data.GetChannelWidth() : m_wifiPhy->GetTxBandwidth(mode));
    tx.SetGuardInterval(NanoSeconds(800));
    tx.SetNss(1);
    return tx;
}

int
main(int argc, char* argv[])
{
    uint32_t channel = 44, payload = 1000;
    Run run(1.5, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("channel", "the narrow cell's channel", channel);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("wide-acks", "BlockAcks as wide as the data", g_wide);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    Cells cells(1);
    cells.Add("{42, 80, BAND_5GHZ, 0}", 1, WifiMacHelper(), 0);
    cells.Add("{" + std::to_string(channel) + ", 20, BAND_5GHZ, 0}", 1, WifiMacHelper(), 2);
    cells.Address();
    run.Watch(cells.devices);
    cells.Saturate(run, "wide", 0, 1, payload);
    cells.Saturate(run, "narrow", 2, 3, payload);
    run.Play();
}
