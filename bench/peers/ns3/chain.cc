// Network (d): the ADTH chain (chain-fifo, peer-chain-aodv). Nodes 0, 1, 2 in a line, 30 m apart, neighbours decodable, the
// ends sensing but not decoding each other; two-ray ground (here: free space); 802.11b 11/1 Mb/s; FIFO of 1000 packets
// that drops its oldest; constant bit rate of 1.8 Mb/s in packets of 1000 B both ways: 0 -> 2 from 0 s, 2 -> 0 from 25 s,
// the first halved at 50 s, the second at 75 s, end at 100 s. --routing=aodv without hello.
#include "chain.h"
#include "errors.h"
#include "feedback.h"
#include "ns3/aodv-helper.h"

// Sends one packet and plans the next with the gap that holds at that time.
static void
SendCbr(Flow* flow, double rate, Time halveAt)
{
    flow->Send();
    const double now = Simulator::Now() < halveAt ? rate : rate / 2;
    Simulator::Schedule(Seconds(8.0 * flow->payload / now), &SendCbr, flow, rate, halveAt);
}

int
main(int argc, char* argv[])
{
    uint32_t payload = 1000;
    double rate = 1.8e6, spacing = 30.0, capture = 4.0, loseBelow = 0;
    bool hello = false, everyLink = false;
    std::string drop = "front", far = "energy", limit = "1000p", routing = "static";
    Run run(100, 0);
    CommandLine cmd(__FILE__);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("rate", "payload rate of a flow, bit/s", rate);
    cmd.AddValue("drop", "full queue: front drops the oldest packet, tail the new one", drop);
    cmd.AddValue("limit", "queue limit, e.g. 1000p", limit);
    cmd.AddValue("far", "two hops away: energy (sensed, no frame), frame (decoded), none (not even sensed)", far);
    cmd.AddValue("capture", "how far a preamble must lie above the sum of all else to be detected, dB (ns-3: 4)", capture);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    cmd.AddValue("spacing", "distance of neighbours, metres", spacing);
    cmd.AddValue("routing", "static or aodv", routing);
    cmd.AddValue("hello", "AODV's hello messages, one a second", hello);
    cmd.AddValue("every-link", "every frame given up breaks a link, not only to a listed neighbour (ns-3: no)", everyLink);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    LoseBelow(loseBelow);
    if (everyLink)
    {
        BreakEveryFailedLink();
    }

    NodeContainer nodes(3);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(spacing));
    mobility.Install(nodes);
    auto phy = ChainPhy(far, capture);
    Radio radio = Radio::B();
    radio.queue = limit;
    radio.drop = drop == "front" ? "DropOldest" : "DropNewest";
    auto devices = InstallDevices(nodes, phy, radio);

    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    if (routing == "aodv")
    {
        internet.SetRoutingHelper(aodv);
    }
    internet.Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    if (routing == "aodv")
    {
        run.routing.emplace();
        std::for_each(nodes.Begin(), nodes.End(), [&run](Ptr<Node> node) { run.routing->Watch(node); });
    }
    else
    {
        PinRoutes(nodes, interfaces);
    }
    auto phase = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto& flow = run.flows.emplace_back();
        const uint32_t source = i ? 2 : 0;
        flow.name = i ? "backward" : "forward";
        flow.payload = payload;
        flow.Connect(nodes.Get(source), nodes.Get(2 - source), interfaces.GetAddress(2 - source), kPort);
        // Sources that start in step would collide in a fixed pattern: the phase is the seed's, within one gap.
        const Time start = Seconds(25.0 * i + phase->GetValue(0, 8.0 * payload / rate));
        Simulator::ScheduleWithContext(source, start, &SendCbr, &flow, rate, Seconds(50.0 + 25.0 * i));
    }
    run.Play();
}
