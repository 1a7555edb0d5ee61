// TCP and CBR over AODV on a grid of 3 x 4 nodes 30 m apart (peer-tcp-grid): 802.11b 11/1 Mb/s, every frame with the same power
// up to 35 m and none beyond. A greedy connection from node 0 to node 11 and 200 kb/s of 1000 B from node 9 to node 2,
// diagonal to each other; drop-tail FIFO of 50 packets. TCP as in network (j).
#include "connection.h"
#include "errors.h"
#include "feedback.h"
#include "ns3/aodv-helper.h"

int
main(int argc, char* argv[])
{
    double rate = 200, loseBelow = 0;
    bool everyLink = false, forget = true, hello = false;
    Run run(110, 10);
    CommandLine cmd(__FILE__);
    cmd.AddValue("rate", "CBR, kb/s", rate);
    cmd.AddValue("hello", "hello messages (ns-3: yes)", hello);
    cmd.AddValue("forget", "a neighbour not heard for 2 s is a broken link, also without hello (ns-3: yes)", forget);
    cmd.AddValue("every-link", "every frame given up breaks a link, and nothing else does (ns-3: no)", everyLink);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    LoseBelow(loseBelow);
    if (everyLink)
    {
        BreakEveryFailedLink();
    }
    SetTcp("TcpLinuxReno", "TcpClassicRecovery", false);

    NodeContainer nodes(12);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(30), "DeltaY", DoubleValue(30),
                                  "GridWidth", UintegerValue(3));
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(35));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(-50)); // what arrives, for this channel attenuates nothing within its range
    phy.Set("TxPowerEnd", DoubleValue(-50));
    Radio radio = Radio::B();
    radio.queue = "50p";
    auto devices = InstallDevices(nodes, phy, radio);

    InternetStackHelper internet;
    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(hello));
    aodv.Set("AllowedHelloLoss", UintegerValue(forget ? 2 : 60000));
    internet.SetRoutingHelper(aodv);
    internet.Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    run.routing.emplace();
    std::for_each(nodes.Begin(), nodes.End(), [&run](Ptr<Node> node) { run.routing->Watch(node); });

    auto& cbr = run.flows.emplace_back();
    cbr.name = "cbr";
    cbr.Connect(nodes.Get(9), nodes.Get(2), interfaces.GetAddress(2), kPort + 1);
    const Time step = Seconds(8.0 * cbr.payload / (1e3 * rate));
    std::function<void()> send = [&] {
        cbr.Send();
        Simulator::Schedule(step, [&send] { send(); });
    };
    Simulator::ScheduleWithContext(9, MilliSeconds(5), [&send] { send(); });
    Connection connection;
    connection.name = "down";
    connection.Open(nodes.Get(0), nodes.Get(11), interfaces.GetAddress(11), kPort, 0, Seconds(0));
    run.others.push_back({[&connection] { connection.Restart(); },
                          [&connection](double seconds) { return connection.Json(seconds); }});
    run.Play();
}
