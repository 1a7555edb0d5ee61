// Network (f): A-MPDU (peer-ampdu). Stations on a circle of 1 m send UDP packets of 1000 B without pause to node 0; every
// node hears every other with the same power. 802.11n at 5 GHz, 20 MHz, long guard interval, HT-mixed preamble, basic rate
// 6 Mb/s; best effort: AIFSN 3, CW 15 to 1023, no TXOP limit. A-MPDU of at most 65535 B, 64 frames and 4 ms; no A-MSDU, no
// RTS. ns-3's own limit is 5.484 ms: the 4 ms are made a limit in bytes at the rate of the MCS.
#include "network.h"
#include "ns3/qos-txop.h"
#include "retries.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 1, mcs = 7, payload = 1000, bytes = 65535;
    double duration = 4000;
    bool bar = true, inARow = false;
    Run run(6, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "sending stations", stations);
    cmd.AddValue("mcs", "0 to 31", mcs);
    cmd.AddValue("ampdu", "most bytes of an A-MPDU, 0 for none", bytes);
    cmd.AddValue("ampdu-duration", "longest A-MPDU, us (ns-3's own limit is 5484)", duration);
    cmd.AddValue("bar", "after a missing BlockAck send a BlockAckReq (ns-3: yes), not the data again", bar);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("in-a-row", "a BlockAck begins the count of attempts anew (ns-3: no; matters with --bar=0)", inARow);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(bar));

    if (inARow)
    {
        CountFailuresInARow();
    }

    NodeContainer nodes(stations + 1);
    PlaceOnCircle(nodes, 1);
    auto phy = EqualPowerPhy();
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(mcs / 8 + 1));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(mcs / 8 + 1));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(mcs / 8 + 1));
    Radio radio = Radio::N(mcs);
    radio.ampdu = std::min(bytes, BytesWithin(duration, mcs));
    auto devices = InstallDevices(nodes, phy, radio);
    InternetStackHelper().Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        auto& flow = run.flows.emplace_back();
        auto queue = MacOf(devices, i)->GetQosTxop(AC_BE)->GetWifiMacQueue();
        flow.name = "up-n" + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(i), nodes.Get(0), interfaces.GetAddress(0), kPort + i);
        // A window of 64 frames under way and one more behind it.
        Simulator::ScheduleWithContext(i, MicroSeconds(7 * i), &Flow::Saturate, &flow, queue, 130);
    }
    run.Play();
}
