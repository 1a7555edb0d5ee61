// Saturated single cell: N stations on a circle send UDP packets without pause to the node in its centre. Every node
// hears every other with the same power, so that whatever overlaps is lost; no ARP, no association, no beacons.
#include "dcf.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 10, payload = 1000, seed = 1;
    double warmup = 1.0, measured = 10.0, radius = 1.0;
    std::string phyName = "b";
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "sending stations", stations);
    cmd.AddValue("phy", "b: 802.11b 11/1 Mb/s, long preamble; g: OFDM 54/6 Mb/s, 9 us slots", phyName);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("warmup", "simulated seconds before counting", warmup);
    cmd.AddValue("measured", "simulated seconds counted", measured);
    cmd.AddValue("radius", "distance of the stations from the receiver, metres", radius);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes(stations + 1);
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; ++i)
    {
        const double angle = 2 * M_PI * i / stations;
        places->Add(Vector(radius * std::cos(angle), radius * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-50));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    auto devices = InstallDcf(nodes, phy, phyName == "g", "1000p");

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.0.0");
    auto interfaces = addresses.Assign(devices);
    NeighborCacheHelper().PopulateNeighborCache(devices);

    std::vector<Frames> frames(stations + 1);
    std::vector<Flow> flows(stations);
    for (uint32_t i = 0; i <= stations; ++i)
    {
        frames[i].Watch(devices.Get(i));
    }
    for (uint32_t i = 0; i < stations; ++i)
    {
        auto* flow = &flows[i];
        flow->name = "s" + std::to_string(i + 1);
        flow->Connect(nodes.Get(i + 1), interfaces.GetAddress(0), kPort + i);
        flow->Listen(nodes.Get(0), kPort + i);
        // A queue that gets a packet for each that leaves it is never empty, at no cost for packets made in vain.
        const auto refill = [flow, payload](Ptr<const WifiMpdu>) {
            Simulator::ScheduleNow([flow, payload] { flow->Send(payload); });
        };
        auto queue = DynamicCast<WifiNetDevice>(devices.Get(i + 1))->GetMac()->GetTxop()->GetWifiMacQueue();
        queue->TraceConnectWithoutContext("Dequeue", Callback<void, Ptr<const WifiMpdu>>(refill));
        Simulator::ScheduleWithContext(i + 1, MicroSeconds(7 * i), [flow, payload] {
            flow->Send(payload);
            flow->Send(payload);
        });
    }
    Simulator::Schedule(Seconds(warmup), [&frames, &flows] {
        for (auto& f : frames)
        {
            f.Reset();
        }
        for (auto& f : flows)
        {
            f.sent = f.received = 0;
            f.delaySum = f.delayMax = Time();
        }
    });
    Simulator::Stop(Seconds(warmup + measured));
    Simulator::Run();
    WriteJson(measured, payload, flows, frames);
    Simulator::Destroy();
}
