// Networks (a) and (b): a saturated cell. Stations 1 to N on a circle of 1 m send UDP packets of 1000 B without pause to
// node 0 in its centre. Every node hears every other with the same power. No ARP, association or beacons. --phy b:
// 802.11b 11/1 Mb/s, long preamble, CW 31; a: 802.11a 54/6 Mb/s, CW 15; g: the same at 2.4 GHz with the signal extension
// and short slots. (b) is --stations=5 --slow=1: the last station sends at 1 Mb/s (peer-anomaly).
#include "network.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 10, payload = 1000, slow = 0;
    double radius = 1.0;
    std::string phyName = "b";
    Run run(11, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "sending stations", stations);
    cmd.AddValue("slow", "how many of them, the last ones, send at 1 Mb/s (802.11b)", slow);
    cmd.AddValue("phy", "b: 802.11b 11/1 Mb/s; a: 802.11a 54/6 Mb/s; g: OFDM 54/6 Mb/s at 2.4 GHz", phyName);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("radius", "distance of the stations from the receiver, metres", radius);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);

    NodeContainer nodes(stations + 1);
    PlaceOnCircle(nodes, radius);
    auto phy = EqualPowerPhy();
    const Radio radio = phyName == "a" ? Radio::A() : phyName == "g" ? Radio::G() : Radio::B();
    auto devices = InstallDevices(nodes, phy, radio);
    for (uint32_t i = stations - slow + 1; i <= stations; ++i)
    {
        auto manager = MacOf(devices, i)->GetWifiRemoteStationManager();
        manager->SetAttribute("DataMode", StringValue("DsssRate1Mbps"));
    }
    InternetStackHelper().Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        auto& flow = run.flows.emplace_back();
        auto queue = MacOf(devices, i)->GetTxop()->GetWifiMacQueue();
        flow.name = "up-n" + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(i), nodes.Get(0), interfaces.GetAddress(0), kPort + i);
        run.nodes[i].WatchService(queue);
        Simulator::ScheduleWithContext(i, MicroSeconds(7 * i), &Flow::Saturate, &flow, queue, 2);
    }
    run.Play();
}
