// Network (o), OFDMA: an access point of 802.11ax over 80 MHz that sends to its stations in HE MU PPDUs by ns-3's round-robin
// multi-user scheduler, acknowledged after a MU-BAR trigger; or with --up asks them for data by basic triggers, between which
// they do not contend (MU EDCA). Needs ns-3.44.
#include "ns3/rr-multi-user-scheduler.h"
#include "cells.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 4, payload = 1000;
    bool up = false;
    Run run(1.5, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "stations, all in each PPDU", stations);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("up", "stations send to the access point, when it asks them", up);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::WifiDefaultAckManager::DlMuAckSequenceType", EnumValue(WifiAcknowledgment::DL_MU_TF_MU_BAR));
    if (up)
    {
        // The access point asks only stations of which it knows that they have data, and only once it has the medium, which
        // it wants for frames of its own or so often.
        Config::SetDefault("ns3::QosFrameExchangeManager::SetQueueSize", BooleanValue(true));
        Config::SetDefault("ns3::MultiUserScheduler::AccessReqInterval", TimeValue(MicroSeconds(20)));
        Config::SetDefault("ns3::HeConfiguration::MuBeAifsn", UintegerValue(0));
        for (const auto* category : {"Be", "Bk", "Vi", "Vo"})
        {
            Config::SetDefault(std::string("ns3::HeConfiguration::") + category + "MuEdcaTimer",
                               TimeValue(MicroSeconds(8192 * 255)));
        }
    }
    Cells cells(stations);
    WifiMacHelper mac;
    // It does not ask at all where the longest PPDU has no room for UlPsduSize.
    mac.SetMultiUserScheduler("ns3::RrMultiUserScheduler", "NStations", UintegerValue(stations), "EnableUlOfdma",
                              BooleanValue(up), "EnableBsrp", BooleanValue(false), "UlPsduSize", UintegerValue(2000));
    cells.Add("{0, 80, BAND_5GHZ, 0}", stations, mac, 0);
    cells.Address();
    run.Watch(cells.devices);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        cells.Saturate(run, (up ? "up-n" : "down-n") + std::to_string(i), up ? i : 0, up ? 0 : i, payload);
    }
    run.Play();
}
