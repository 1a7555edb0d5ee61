// Network (h): BBR (peer-bbr, peer-bbr-ap). A server and a wired link of --rate Mb/s and --delay ms each way that loses packets
// of each direction with probability --loss, with --limit packets besides the one being sent; behind it one client, or
// with --ap=N an access point of 802.11n with N stations (5 GHz, 20 MHz, MCS 7, A-MPDU) and a queue of --limit packets.
// --downloads connections to the client, or one to each station; then --cubic connections of CUBIC. Each starts 0.1 s after
// the one before, the first after 0.5 s. Otherwise as in tcp.cc.
#include "connection.h"
#include "ns3/error-model.h"
#include "ns3/mobility-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/traffic-control-layer.h"

static void
NoDisc(Ptr<NetDevice> device)
{
    auto layer = device->GetNode()->GetObject<TrafficControlLayer>();
    if (layer->GetRootQueueDiscOnDevice(device))
    {
        layer->DeleteRootQueueDiscOnDevice(device);
    }
}

// An access point, node 0, and its stations, which associate within the first half second.
static NetDeviceContainer
Cell(const NodeContainer& nodes, uint32_t limit)
{
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(limit + 1) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    MobilityHelper mobility;
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-20));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    const Ssid ssid("cell");
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HtMcs7"), "ControlMode",
                                 StringValue("OfdmRate6Mbps"), "NonUnicastMode", StringValue("OfdmRate6Mbps"));
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        WifiMacHelper mac;
        if (i == 0)
        {
            mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(true), "BE_MaxAmpduSize",
                        UintegerValue(32767), "EnableBeaconJitter", BooleanValue(false));
        }
        else
        {
            mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "MaxMissedBeacons", UintegerValue(100000),
                        "QosSupported", BooleanValue(true), "BE_MaxAmpduSize", UintegerValue(32767));
        }
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }
    return devices;
}

int
main(int argc, char* argv[])
{
    uint32_t downloads = 1, cubic = 0, limit = 100, ap = 0;
    double rate = 10, delay = 20, loss = 0;
    Run run(60, 20);
    CommandLine cmd(__FILE__);
    cmd.AddValue("downloads", "connections of BBR, without --ap", downloads);
    cmd.AddValue("cubic", "connections of CUBIC, without --ap", cubic);
    cmd.AddValue("limit", "packets in the bottleneck's queue besides the one being sent", limit);
    cmd.AddValue("ap", "stations of an access point; 0: a wired client", ap);
    cmd.AddValue("rate", "rate of the wired link, Mb/s", rate);
    cmd.AddValue("delay", "delay of the wired link, ms", delay);
    cmd.AddValue("loss", "share of the packets that the wired link loses", loss);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    SetTcp("TcpBbr", "TcpClassicRecovery", false);

    NodeContainer far(std::max(ap + 1, 1U)), server(1);
    NetDeviceContainer cell = ap ? Cell(far, limit) : NetDeviceContainer();
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(delay / 1e3)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(ap ? 1000 : limit) + "p"));
    auto ends = link.Install(server.Get(0), far.Get(0));
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        ends.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    InternetStackHelper().Install(far);
    InternetStackHelper().Install(server);
    auto wires = Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(ends);
    Ipv4StaticRoutingHelper routing;
    auto routes = [&routing](Ptr<Node> node) { return routing.GetStaticRouting(node->GetObject<Ipv4>()); };
    Ipv4InterfaceContainer stations;
    if (ap)
    {
        stations = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(cell);
        routes(server.Get(0))->SetDefaultRoute(wires.GetAddress(1), 1);
        for (uint32_t i = 1; i < far.GetN(); ++i)
        {
            routes(far.Get(i))->SetDefaultRoute(stations.GetAddress(0), 1);
        }
        downloads = ap;
        cubic = 0;
    }
    for (uint32_t i = 0; i < 2; ++i)
    {
        NoDisc(ends.Get(i));
    }
    for (uint32_t i = 0; i < cell.GetN(); ++i)
    {
        NoDisc(cell.Get(i));
    }
    run.Watch(cell);

    std::deque<Connection> connections;
    for (uint32_t i = 0; i < downloads + cubic; ++i)
    {
        auto& connection = connections.emplace_back();
        const bool bbr = i < downloads;
        connection.name = "down-" + std::to_string(i + 1);
        const Time start = MilliSeconds(500 + 100 * i);
        Simulator::ScheduleWithContext(0, start - MicroSeconds(1), [&server, bbr] {
            const auto law = TypeId::LookupByName(bbr ? "ns3::TcpBbr" : "ns3::TcpCubic");
            server.Get(0)->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", TypeIdValue(law));
        });
        connection.Open(server.Get(0), far.Get(ap ? i + 1 : 0), ap ? stations.GetAddress(i + 1) : wires.GetAddress(1), kPort + i,
                        0, start);
        run.others.push_back({[&connection] { connection.Restart(); },
                              [&connection](double seconds) { return connection.Json(seconds); }});
    }
    run.Play();
}
