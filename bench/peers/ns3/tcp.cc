// Network (h): TCP (peer-tcp). A server, 100 Mb/s and 100 ms each way, an access point and stations around it, 802.11a
// 54/6 Mb/s, every frame with the same power. Greedy downloads from the server, one a station, then greedy uploads, one a
// station more; each starts 0.1 s after the one before. Segments of 1000 B, SACK, timestamps, delayed ACKs (2, 200 ms),
// 10 segments at first, 1 s as least RTO, 4 MB of window. The queue of every node holds --limit packets besides the one
// being sent. --edca: categories, data as best effort and segments of the receiver as voice, one frame a TXOP. --wired:
// rate of the wired link towards the access point in Mb/s, with --disc as its queue discipline.
#include "connection.h"
#include "network.h"
#include "ns3/point-to-point-module.h"
#include "ns3/qos-txop.h"
#include "ns3/traffic-control-module.h"

static void
SetCategories(const NetDeviceContainer& devices)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto voice = MacOf(devices, i)->GetQosTxop(AC_VO), best = MacOf(devices, i)->GetQosTxop(AC_BE);
        voice->SetAifsn(2);
        voice->SetMinCw(3);
        voice->SetMaxCw(7);
        best->SetAifsn(3);
        best->SetMinCw(15);
        best->SetMaxCw(1023);
        voice->SetTxopLimit(Seconds(0));
        best->SetTxopLimit(Seconds(0));
    }
}

int
main(int argc, char* argv[])
{
    uint32_t downloads = 1, uploads = 0, limit = 400;
    double wired = 100;
    bool edca = false, hystart = false;
    std::string disc = "", congestion = "TcpNewReno", recovery = "TcpClassicRecovery";
    Run run(100, 20);
    CommandLine cmd(__FILE__);
    cmd.AddValue("downloads", "connections from the server", downloads);
    cmd.AddValue("uploads", "connections to the server", uploads);
    cmd.AddValue("limit", "packets in a queue besides the one being sent", limit);
    cmd.AddValue("edca", "acknowledgements as voice, data as best effort", edca);
    cmd.AddValue("wired", "rate of the wired link, Mb/s", wired);
    cmd.AddValue("disc", "queue discipline of the server's link, as CoDelQueueDisc; none: drop-tail", disc);
    cmd.AddValue("congestion", "TcpNewReno, TcpLinuxReno or TcpCubic", congestion);
    cmd.AddValue("recovery", "TcpClassicRecovery or TcpPrrRecovery (ns-3's default)", recovery);
    cmd.AddValue("hystart", "CUBIC leaves slow start by rising delay (ns-3: yes)", hystart);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    SetTcp(congestion, recovery, hystart);

    NodeContainer wireless(1 + downloads + uploads), server(1);
    PlaceOnCircle(wireless, 1);
    auto phy = EqualPowerPhy();
    Radio radio = Radio::A();
    radio.qos = edca;
    radio.queue = std::to_string(limit + 1) + "p";
    auto devices = InstallDevices(wireless, phy, radio);
    if (edca)
    {
        SetCategories(devices);
    }
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(wired * 1e6))));
    link.SetChannelAttribute("Delay", StringValue("100ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(disc.empty() ? "1000p" : "1p"));
    auto ends = link.Install(server.Get(0), wireless.Get(0));
    InternetStackHelper().Install(wireless);
    InternetStackHelper().Install(server);
    auto interfaces = AssignAddresses(devices);
    auto wires = Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(ends);
    for (uint32_t i = 0; i < 2; ++i)
    {
        ends.Get(i)->GetNode()->GetObject<TrafficControlLayer>()->DeleteRootQueueDiscOnDevice(ends.Get(i));
    }
    QueueDiscContainer discs;
    if (!disc.empty())
    {
        TrafficControlHelper control;
        control.SetRootQueueDisc("ns3::" + disc, "MaxSize", StringValue("1000p"));
        discs = control.Install(ends.Get(0));
    }
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(server.Get(0)->GetObject<Ipv4>())->SetDefaultRoute(wires.GetAddress(1), 1);
    for (uint32_t i = 1; i < wireless.GetN(); ++i)
    {
        routing.GetStaticRouting(wireless.Get(i)->GetObject<Ipv4>())->SetDefaultRoute(interfaces.GetAddress(0), 1);
    }
    run.Watch(devices);

    std::deque<Connection> connections;
    for (uint32_t i = 0; i < downloads + uploads; ++i)
    {
        auto& connection = connections.emplace_back();
        const bool down = i < downloads;
        const uint8_t ackTos = edca ? 6 << 5 : 0;
        connection.name = (down ? "down-" : "up-") + std::to_string(i + 1);
        auto station = wireless.Get(i + 1);
        const auto address = down ? interfaces.GetAddress(i + 1) : wires.GetAddress(0);
        connection.Open(down ? server.Get(0) : station, down ? station : server.Get(0), address, kPort + i, ackTos,
                        MilliSeconds(100 * i));
        run.others.push_back({[&connection] { connection.Restart(); },
                              [&connection](double seconds) { return connection.Json(seconds); }});
    }
    if (!disc.empty())
    {
        run.dropped = [&] { return discs.Get(0)->GetStats().nTotalDroppedPackets; };
    }
    run.Play();
}
