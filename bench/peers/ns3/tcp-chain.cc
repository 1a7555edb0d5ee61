// Network (j): TCP over a chain (peer-tcp-chain, peer-tcp-chain-aodv). Nodes 0 to `hops` in a line, 30 m apart, 802.11b
// 11/1 Mb/s; one greedy connection from the first to the last, Reno and SACK, segments of 1000 B; drop-tail FIFO of 50
// packets. Radio as in network (d), but with ns-3's own capture and error model.
//
// Network (k) (peer-tcp-chain-1mbps), --slow: 200 m apart, 1 Mb/s with RTS/CTS; NewReno without options, segments of 512 B.
// Radio as in network (g).
#include "chain.h"
#include "connection.h"
#include "errors.h"
#include "feedback.h"
#include "ranged.h"
#include "ns3/aodv-helper.h"

int
main(int argc, char* argv[])
{
    uint32_t hops = 1;
    double capture = 4.0, loseBelow = 0, energy = -63.6;
    bool everyLink = false, forget = true, slow = false, sack = false;
    std::string limit = "50p", routing = "static", far = "energy", congestion = "TcpLinuxReno",
                recovery = "TcpClassicRecovery", rate = "", errors = "";
    Run run(60, 10);
    CommandLine cmd(__FILE__);
    cmd.AddValue("hops", "nodes less one", hops);
    cmd.AddValue("slow", "network (k): 200 m apart, 1 Mb/s with RTS/CTS, NewReno", slow);
    cmd.AddValue("sack", "SACK in network (k), too", sack);
    cmd.AddValue("limit", "queue limit, e.g. 50p", limit);
    cmd.AddValue("routing", "static or aodv", routing);
    cmd.AddValue("rate", "network (j) with 802.11a at this rate and 6 Mb/s, e.g. OfdmRate24Mbps", rate);
    cmd.AddValue("errors", "error model of OFDM: Nist, Yans or TableBased (ns-3's default)", errors);
    cmd.AddValue("far", "network (j), two hops away: energy (sensed, no frame), frame (decoded), none (not even sensed)", far);
    cmd.AddValue("capture", "how far a preamble must lie above the sum of all else to be detected, dB (ns-3: 4)", capture);
    cmd.AddValue("energy", "network (j): least power, of all signals together, that keeps the medium busy, dBm", energy);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    cmd.AddValue("forget", "a neighbour not heard for 2 s is a broken link, also without hello (ns-3: yes)", forget);
    cmd.AddValue("every-link", "every frame given up breaks a link, and nothing else does (ns-3: no)", everyLink);
    cmd.AddValue("congestion", "TcpNewReno, TcpLinuxReno or TcpCubic", congestion);
    cmd.AddValue("recovery", "TcpClassicRecovery or TcpPrrRecovery (ns-3's default)", recovery);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    LoseBelow(loseBelow);
    if (everyLink)
    {
        BreakEveryFailedLink();
    }
    SetTcp(congestion, recovery, false);
    Connection connection;
    connection.name = "down";
    if (slow)
    {
        connection.segment = 512;
        SetPlainTcp(connection.segment, sack);
    }

    NodeContainer nodes(hops + 1);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(slow ? 200 : 30), "GridWidth",
                                  UintegerValue(hops + 1));
    mobility.Install(nodes);
    auto phy = slow ? RangedPhy(250, 550, capture) : ChainPhy(far, capture, energy);
    Radio radio = Radio::B(slow ? "DsssRate1Mbps" : "DsssRate11Mbps");
    if (!rate.empty())
    {
        radio = Radio::A();
        radio.data = rate;
    }
    if (!errors.empty())
    {
        phy.SetErrorRateModel("ns3::" + errors + "ErrorRateModel");
    }
    radio.rts = slow;
    radio.queue = limit;
    auto devices = InstallDevices(nodes, phy, radio);

    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(false));
    aodv.Set("AllowedHelloLoss", UintegerValue(forget ? 2 : 60000));
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
    connection.Open(nodes.Get(0), nodes.Get(hops), interfaces.GetAddress(hops), kPort, 0, Seconds(0));
    run.others.push_back({[&connection] { connection.Restart(); },
                          [&connection](double seconds) { return connection.Json(seconds); }});
    run.Play();
}
