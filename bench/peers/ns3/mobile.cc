// Network (g): 50 mobile nodes (peer-mobile). 1500 m x 300 m, moving as the setdest file of --movement says; AODV without
// hello, link failures by MAC feedback; 802.11b 2 Mb/s, basic rate 1 Mb/s, long preamble, no RTS; two-ray ground at 914
// MHz, antennas at 1.5 m, range 250 m, carrier sense 550 m, weaker signals count for nothing; drop-tail queue of 50
// packets; 10 CBR flows, node i to i + 25 for i = 0 to 9, 512 B, 4 packets/s from 10 s, each start moved by a uniform time
// below 250 ms; 110 s.
#include "errors.h"
#include "feedback.h"
#include "network.h"
#include "ranged.h"
#include "ns3/aodv-helper.h"
#include "ns3/ns2-mobility-helper.h"

static void
SendCbr(Flow* flow, Time gap)
{
    flow->Send();
    Simulator::Schedule(gap, &SendCbr, flow, gap);
}

int
main(int argc, char* argv[])
{
    uint32_t count = 50, flows = 10, payload = 512;
    double rate = 4, range = 250, sense = 550, capture = 4, loseBelow = 0, start = 10;
    bool hello = false, arp = false, forget = true, everyLink = false;
    std::string movement, data = "DsssRate2Mbps", limit = "50p";
    Run run(110, 0);
    CommandLine cmd(__FILE__);
    cmd.AddValue("movement", "movement file as setdest writes it", movement);
    cmd.AddValue("nodes", "nodes", count);
    cmd.AddValue("flows", "flows, i to i + nodes / 2", flows);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("rate", "packets a second and flow", rate);
    cmd.AddValue("start", "when the flows start, s", start);
    cmd.AddValue("data", "ns-3's name of the data rate", data);
    cmd.AddValue("limit", "queue limit, e.g. 50p", limit);
    cmd.AddValue("range", "decodable up to here, m", range);
    cmd.AddValue("sense", "sensed and disturbing up to here, m", sense);
    cmd.AddValue("capture", "how far a preamble must lie above the sum of all else to be detected, dB (ns-3: 4)", capture);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    cmd.AddValue("hello", "AODV's hello messages, one a second", hello);
    cmd.AddValue("arp", "ask for hardware addresses instead of knowing them", arp);
    cmd.AddValue("forget", "a neighbour not heard for 2 s is a broken link, also without hello (ns-3: yes)", forget);
    cmd.AddValue("every-link", "every frame given up breaks a link, not only to a listed neighbour (ns-3: no)", everyLink);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    NS_ABORT_MSG_IF(movement.empty(), "--movement is missing");
    RngSeedManager::SetRun(run.seed);
    LoseBelow(loseBelow);
    if (everyLink)
    {
        BreakEveryFailedLink();
    }

    NodeContainer nodes(count);
    Ns2MobilityHelper(movement).Install(nodes.Begin(), nodes.End());
    auto phy = RangedPhy(range, sense, capture);
    Radio radio = Radio::B(data);
    radio.queue = limit;
    auto devices = InstallDevices(nodes, phy, radio);

    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    aodv.Set("AllowedHelloLoss", UintegerValue(forget ? 2 : 60000));
    InternetStackHelper internet;
    internet.SetRoutingHelper(aodv);
    internet.Install(nodes);
    auto interfaces = AssignAddresses(devices, arp);
    run.Watch(devices);
    run.routing.emplace();
    std::for_each(nodes.Begin(), nodes.End(), [&run](Ptr<Node> node) { run.routing->Watch(node); });
    auto phase = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint32_t to = i + count / 2;
        auto& flow = run.flows.emplace_back();
        flow.name = "f" + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(i), nodes.Get(to), interfaces.GetAddress(to), kPort);
        Simulator::ScheduleWithContext(i, Seconds(start + phase->GetValue(0, 1 / rate)), &SendCbr, &flow, Seconds(1 / rate));
    }
    run.Play();
}
