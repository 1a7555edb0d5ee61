// Network (c): a hidden pair (peer-hidden, peer-hidden-rts). Nodes 1 and 2 stand 40 m left and right of node 0 and send to
// it UDP packets of 1000 B without pause; range 50 m, nothing beyond, all frames equally strong. 802.11b 11/1 Mb/s, long
// preamble, CW 31 to 1023; --rts: RTS/CTS before all data. With --mcs (peer-hidden-ampdu) A-MPDUs of 802.11n as in network
// (f), best effort without a TXOP limit.
#include "errors.h"
#include "network.h"
#include "ns3/qos-txop.h"

int
main(int argc, char* argv[])
{
    bool rts = false;
    double loseBelow = 10; // powers are equal: whatever overlaps is lost
    uint32_t payload = 1000;
    int mcs = -1;
    Run run(31, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("rts", "RTS/CTS before all data", rts);
    cmd.AddValue("mcs", "MCS of 802.11n with A-MPDUs, 0 to 31; -1: 802.11b", mcs);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    LoseBelow(loseBelow);

    NodeContainer nodes(3);
    auto places = CreateObject<ListPositionAllocator>();
    for (const double x : {0.0, -40.0, 40.0})
    {
        places->Add(Vector(x, 0, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(50));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(-50)); // what arrives, for this channel attenuates nothing within its range
    phy.Set("TxPowerEnd", DoubleValue(-50));
    Radio radio = Radio::B();
    if (mcs >= 0)
    {
        radio = Radio::N(mcs);
        radio.ampdu = std::min(65535U, BytesWithin(4000, mcs));
        phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
        phy.Set("Antennas", UintegerValue(mcs / 8 + 1));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(mcs / 8 + 1));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(mcs / 8 + 1));
    }
    radio.rts = rts;
    auto devices = InstallDevices(nodes, phy, radio);
    InternetStackHelper().Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    for (const uint32_t i : {1, 2})
    {
        auto& flow = run.flows.emplace_back();
        auto mac = MacOf(devices, i);
        auto queue = mcs >= 0 ? mac->GetQosTxop(AC_BE)->GetWifiMacQueue() : mac->GetTxop()->GetWifiMacQueue();
        flow.name = "up-n" + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(i), nodes.Get(0), interfaces.GetAddress(0), kPort + i);
        run.nodes[i].WatchService(queue);
        Simulator::ScheduleWithContext(i, MicroSeconds(7 * i), &Flow::Saturate, &flow, queue, mcs >= 0 ? 130 : 2);
    }
    run.Play();
}
