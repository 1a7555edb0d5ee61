// Network (i): a queue discipline under an open loop (peer-aqm). One wired link of 10 Mb/s and 1 ms without radio; a
// bulk flow of Poisson packets of 1000 B and --bulk Mb/s, a sparse one of 80 kb/s; a queue disc with --disc. The
// device holds one packet besides the one being sent, so that the disc holds the rest; a packet's wait ends where it
// leaves the disc.
#include "outcome.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <cmath>

constexpr uint32_t kPacket = 1028; // with UDP and IP headers

// Packets at independent random times, and their waits in the queue disc.
struct PoissonFlow
{
    std::string name;
    uint16_t port;
    Flow packets;
    Times wait;
    Ptr<ExponentialRandomVariable> gap = CreateObject<ExponentialRandomVariable>();

    void SendAndGoOn()
    {
        packets.Send();
        Simulator::Schedule(Seconds(gap->GetValue()), &PoissonFlow::SendAndGoOn, this);
    }

    void Start(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, double mbps)
    {
        packets.Connect(from, to, address, port);
        gap->SetAttribute("Mean", DoubleValue(8e-6 * packets.payload / mbps));
        Simulator::ScheduleWithContext(from->GetId(), Seconds(gap->GetValue()), [this] { SendAndGoOn(); });
    }

    // A packet leaves the queue disc for the device.
    void OnLeaves(Ptr<const Packet> packet)
    {
        PppHeader ppp;
        Ipv4Header ip;
        UdpHeader udp;
        SeqTsHeader stamp;
        auto copy = packet->Copy();
        copy->RemoveHeader(ppp);
        copy->RemoveHeader(ip);
        copy->RemoveHeader(udp);
        copy->RemoveHeader(stamp);
        if (udp.GetDestinationPort() == port)
        {
            wait.Add(Simulator::Now() - stamp.GetTs());
        }
    }

    void Restart()
    {
        packets.sent = packets.received = 0;
        packets.delay = wait = Times{};
    }

    std::string Json(double seconds)
    {
        char text[512];
        std::snprintf(text, sizeof text,
                      "{\"name\": \"%s\", \"sent_packets\": %lu, \"received_packets\": %lu, \"goodput_bps\": %.9g, "
                      "\"delay_s\": %s, \"wait_s\": %s}",
                      name.c_str(), packets.sent, packets.received, 8.0 * packets.payload * packets.received / seconds,
                      packets.delay.Json().c_str(), wait.Json().c_str());
        return text;
    }
};

// The disciplines' parameters, those of scenarios/reference/peer-aqm.toml.
static void
SetDisciplines(bool wait)
{
    for (const std::string disc : {"CoDel", "FqCoDel"})
    {
        Config::SetDefault("ns3::" + disc + "QueueDisc::Target", StringValue("5ms"));
        Config::SetDefault("ns3::" + disc + "QueueDisc::Interval", StringValue("100ms"));
        Config::SetDefault("ns3::" + disc + "QueueDisc::UseEcn", BooleanValue(false));
    }
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(1515)); // drops nothing below, Sluice up to 1514
    Config::SetDefault("ns3::FqCoDelQueueDisc::Flows", UintegerValue(1024));
    Config::SetDefault("ns3::FqCoDelQueueDisc::DropBatchSize", UintegerValue(64));
    Config::SetDefault("ns3::PieQueueDisc::QueueDelayReference", StringValue("15ms"));
    Config::SetDefault("ns3::PieQueueDisc::Tupdate", StringValue("15ms"));
    Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", StringValue("150ms"));
    Config::SetDefault("ns3::PieQueueDisc::A", DoubleValue(0.125));
    Config::SetDefault("ns3::PieQueueDisc::B", DoubleValue(1.25));
    Config::SetDefault("ns3::PieQueueDisc::MeanPktSize", UintegerValue(kPacket));
    Config::SetDefault("ns3::PieQueueDisc::UseDequeueRateEstimator", BooleanValue(false));
    Config::SetDefault("ns3::PieQueueDisc::UseCapDropAdjustment", BooleanValue(true));
    Config::SetDefault("ns3::PieQueueDisc::UseDerandomization", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::ARED", BooleanValue(true)); // thresholds and weight follow from the link
    Config::SetDefault("ns3::RedQueueDisc::LinkBandwidth", StringValue("10Mbps"));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(kPacket));
    Config::SetDefault("ns3::RedQueueDisc::TargetDelay", StringValue("5ms"));
    Config::SetDefault("ns3::RedQueueDisc::Interval", StringValue("500ms"));
    Config::SetDefault("ns3::RedQueueDisc::LInterm", DoubleValue(50)); // 1 / max_p
    Config::SetDefault("ns3::RedQueueDisc::Alpha", DoubleValue(0.01));
    Config::SetDefault("ns3::RedQueueDisc::Beta", DoubleValue(0.9));
    Config::SetDefault("ns3::RedQueueDisc::Bottom", DoubleValue(0.01));
    Config::SetDefault("ns3::RedQueueDisc::Top", DoubleValue(0.5));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::Wait", BooleanValue(wait));
}

int
main(int argc, char* argv[])
{
    double bulk = 12;
    bool wait = false;
    std::string disc = "CoDel";
    Run run(60, 0);
    CommandLine cmd(__FILE__);
    cmd.AddValue("disc", "CoDel, FqCoDel, Pie or Red", disc);
    cmd.AddValue("bulk", "payload of the bulk flow, Mb/s", bulk);
    cmd.AddValue("wait", "RED: drops are 1/p to 2/p packets apart (ns-3: yes) instead of 1 to 1/p", wait);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    SetDisciplines(wait);

    NodeContainer nodes(2);
    PointToPointHelper link; // PPP adds 2 B on the wire, at a rate that makes up for them
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(std::llround(1e7 * (kPacket + 2) / kPacket)))));
    link.SetChannelAttribute("Delay", StringValue("1ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    auto ends = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::" + disc + "QueueDisc", "MaxSize", StringValue("5000p"));
    auto discs = control.Install(ends.Get(0));
    if (auto flows = DynamicCast<FqCoDelQueueDisc>(discs.Get(0)))
    {
        flows->SetQuantum(1514);
    }
    auto addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(ends);

    std::deque<PoissonFlow> flows;
    for (const auto& [name, mbps] : {std::pair("bulk", bulk), std::pair("sparse", 0.08)})
    {
        auto& flow = flows.emplace_back();
        flow.name = name;
        flow.port = kPort + flows.size();
        flow.Start(nodes.Get(0), nodes.Get(1), addresses.GetAddress(1), mbps);
        ends.Get(0)->TraceConnectWithoutContext("MacTx", MakeCallback(&PoissonFlow::OnLeaves, &flow));
        run.others.push_back({[&flow] { flow.Restart(); }, [&flow](double seconds) { return flow.Json(seconds); }});
    }
    run.dropped = [&] { return discs.Get(0)->GetStats().nTotalDroppedPackets; };
    run.Play();
}
