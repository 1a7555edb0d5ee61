// Network (o), OFDMA: an access point of 802.11ax over 80 MHz that sends to its stations in HE MU PPDUs by ns-3's round-robin
// multi-user scheduler, acknowledged after a MU-BAR trigger. Needs ns-3.44.
#include "ns3/rr-multi-user-scheduler.h"
#include "cells.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 4, payload = 1000;
    Run run(1.5, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "stations, all in each PPDU", stations);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::WifiDefaultAckManager::DlMuAckSequenceType", EnumValue(WifiAcknowledgment::DL_MU_TF_MU_BAR));
    Cells cells(stations);
    WifiMacHelper mac;
    mac.SetMultiUserScheduler("ns3::RrMultiUserScheduler", "NStations", UintegerValue(stations), "EnableUlOfdma",
                              BooleanValue(false), "EnableBsrp", BooleanValue(false));
    cells.Add("{0, 80, BAND_5GHZ, 0}", stations, mac, 0);
    cells.Address();
    run.Watch(cells.devices);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        cells.Saturate(run, "down-n" + std::to_string(i), 0, i, payload);
    }
    run.Play();
}
