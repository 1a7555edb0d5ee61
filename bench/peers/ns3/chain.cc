// The ADTH chain: nodes 0, 1, 2 in a line, neighbours decodable, the ends sensing but not decoding each other; constant
// bit rate both ways: 0 -> 2 from 0 s, 2 -> 0 from 25 s, the first halved at 50 s, the second at 75 s, end at 100 s.
#include "dcf.h"

// Sends one packet and plans the next with the gap that holds at that time.
static void
SendCbr(Flow* flow, uint32_t payload, double rate, Time halveAt)
{
    flow->Send(payload);
    const double now = Simulator::Now() < halveAt ? rate : rate / 2;
    Simulator::Schedule(Seconds(8.0 * payload / now), &SendCbr, flow, payload, rate, halveAt);
}

int
main(int argc, char* argv[])
{
    uint32_t payload = 1000, seed = 1;
    double rate = 1.8e6, spacing = 30.0, duration = 100.0, capture = 4.0;
    std::string drop = "front", far = "energy", limit = "1000p";
    CommandLine cmd(__FILE__);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("rate", "payload rate of a flow, bit/s", rate);
    cmd.AddValue("drop", "full queue: front drops the oldest packet, tail the new one", drop);
    cmd.AddValue("limit", "queue limit, e.g. 1000p", limit);
    cmd.AddValue("far", "two hops away: energy (sensed, no frame), frame (decoded), none (not even sensed)", far);
    cmd.AddValue("capture", "how far a preamble must lie above the sum of all else to be detected, dB (ns-3: 4)", capture);
    cmd.AddValue("spacing", "distance of neighbours, metres", spacing);
    cmd.AddValue("duration", "simulated seconds", duration);
    cmd.AddValue("seed", "run number of the random streams", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes(3);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(spacing));
    mobility.Install(nodes);

    // Friis is what two-ray ground gives at 30 and 60 m: -54.6 and -60.6 dBm. The receive threshold lies half-way (in
    // metres: 42). ns-3 takes a Wi-Fi signal below the preamble detector's minimum for energy only and compares it
    // with CcaSensitivity; RxSensitivity would make it vanish, interference included.
    const double threshold = far == "frame" ? -82.0 : -57.6;
    const double sensed = far == "none" ? -57.6 : -63.6;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FriisPropagationLossModel", "Frequency", DoubleValue(2.412e9));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(15));
    phy.Set("TxPowerEnd", DoubleValue(15));
    phy.Set("CcaSensitivity", DoubleValue(sensed));
    phy.Set("CcaEdThreshold", DoubleValue(sensed));
    // A neighbour's frame lies 6 dB above one from two hops away. From 4 dB ns-3 locks on it, and the payload survives by
    // its error model or ends as a bad frame, with EIFS; with 10 dB, as in ns-2, both are lost as mere energy.
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                  "MinimumRssi", DoubleValue(threshold),
                                  "Threshold", DoubleValue(capture));
    Config::SetDefault("ns3::FcfsWifiQueueScheduler::DropPolicy",
                       StringValue(drop == "front" ? "DropOldest" : "DropNewest"));
    auto devices = InstallDcf(nodes, phy, false, limit);

    Ipv4StaticRoutingHelper routing;
    InternetStackHelper internet;
    internet.SetRoutingHelper(routing);
    internet.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto interfaces = addresses.Assign(devices);
    NeighborCacheHelper().PopulateNeighborCache(devices);
    for (const uint32_t end : {0, 2})
    {
        // The subnet's own route says that the other end is a neighbour; a host route is more specific.
        routing.GetStaticRouting(nodes.Get(end)->GetObject<Ipv4>())
            ->AddHostRouteTo(interfaces.GetAddress(2 - end), interfaces.GetAddress(1), 1);
    }

    std::vector<Frames> frames(3);
    for (uint32_t i = 0; i < 3; ++i)
    {
        frames[i].Watch(devices.Get(i));
    }
    std::vector<Flow> flows(2);
    auto phase = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto& flow = flows[i];
        const uint32_t source = i ? 2 : 0;
        flow.name = i ? "backward" : "forward";
        flow.Connect(nodes.Get(source), interfaces.GetAddress(2 - source), kPort);
        flow.Listen(nodes.Get(2 - source), kPort);
        // Sources that start in step would collide in a fixed pattern: the phase is the seed's, within one gap.
        const Time start = Seconds(25.0 * i + phase->GetValue(0, 8.0 * payload / rate));
        Simulator::ScheduleWithContext(source, start, &SendCbr, &flow, payload, rate, Seconds(50.0 + 25.0 * i));
    }
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    WriteJson(duration, payload, flows, frames);
    Simulator::Destroy();
}
