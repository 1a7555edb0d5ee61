// TCP over one wired link that loses packets at random (peer-tcp-loss): a greedy download, --rate Mb/s, 20 ms each way, the
// packets of each direction lost with probability --loss. Otherwise as in network (h).
#include "connection.h"
#include "network.h"
#include "ns3/error-model.h"
#include "ns3/point-to-point-module.h"

int
main(int argc, char* argv[])
{
    double rate = 20, loss = 0.05;
    uint32_t limit = 1000;
    bool hystart = false;
    std::string congestion = "TcpLinuxReno", recovery = "TcpClassicRecovery";
    Run run(120, 20);
    CommandLine cmd(__FILE__);
    cmd.AddValue("rate", "rate of the link, Mb/s", rate);
    cmd.AddValue("loss", "share of the packets that are lost", loss);
    cmd.AddValue("limit", "packets in the sender's queue", limit);
    cmd.AddValue("congestion", "TcpNewReno, TcpLinuxReno or TcpCubic", congestion);
    cmd.AddValue("recovery", "TcpClassicRecovery or TcpPrrRecovery (ns-3's default)", recovery);
    cmd.AddValue("hystart", "CUBIC leaves slow start by rising delay (ns-3: yes)", hystart);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    SetTcp(congestion, recovery, hystart);

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
    link.SetChannelAttribute("Delay", StringValue("20ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(limit) + "p"));
    auto ends = link.Install(nodes);
    for (uint32_t i = 0; i < 2; ++i)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        ends.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    InternetStackHelper().Install(nodes);
    auto wires = Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(ends);
    for (uint32_t i = 0; i < 2; ++i)
    {
        ends.Get(i)->GetNode()->GetObject<TrafficControlLayer>()->DeleteRootQueueDiscOnDevice(ends.Get(i));
    }
    Connection connection;
    connection.name = "down-1";
    connection.Open(nodes.Get(0), nodes.Get(1), wires.GetAddress(1), kPort, 0, Seconds(0));
    run.others.push_back({[&connection] { connection.Restart(); },
                          [&connection](double seconds) { return connection.Json(seconds); }});
    run.Play();
}
