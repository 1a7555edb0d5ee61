// Network (e): EDCA (peer-edca, peer-edca-one). Stations on a circle of 1 m send UDP packets of 1000 B without pause to node
// 0; every node hears every other with the same power; 802.11a 54/6 Mb/s. Two stations each of voice (1, 2), video (3, 4)
// and best effort (5, 6); --one: two stations, each with all three. Parameter sets of IEEE 802.11-2016, table 9-137:
// voice AIFSN 2, CW 3 to 7, TXOP 2.080 ms; video 2, 7 to 15, 4.096 ms; best effort 3, 15 to 1023, 2.528 ms.
#include "network.h"
#include "ns3/qos-txop.h"
#include "txop.h"

struct Category
{
    const char* name;
    AcIndex index;
    uint8_t priority, aifsn;
    uint32_t cwMin, cwMax;
    Time txop;
};

static const Category kCategories[] = {
    {"voice", AC_VO, 6, 2, 3, 7, MicroSeconds(2080)},
    {"video", AC_VI, 5, 2, 7, 15, MicroSeconds(4096)},
    {"best-effort", AC_BE, 0, 3, 15, 1023, MicroSeconds(2528)},
};

static void
SetParameters(const NetDeviceContainer& devices, bool bursts)
{
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        for (const auto& category : kCategories)
        {
            auto queue = MacOf(devices, i)->GetQosTxop(category.index);
            queue->SetAifsn(category.aifsn);
            queue->SetMinCw(category.cwMin);
            queue->SetMaxCw(category.cwMax);
            queue->SetTxopLimit(bursts ? category.txop : Seconds(0));
        }
    }
}

int
main(int argc, char* argv[])
{
    bool one = false, bursts = true, pifsRecovery = true, reserveNext = false;
    uint32_t each = 2, payload = 1000;
    Run run(31, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("one", "every station has all three categories", one);
    cmd.AddValue("each", "stations of each category, with --one of all", each);
    cmd.AddValue("bursts", "several frames in a TXOP, as its limit allows", bursts);
    cmd.AddValue("pifs-recovery", "go on PIFS after a frame that failed within a TXOP (ns-3: yes), or back off", pifsRecovery);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("reserve-next", "reserve for the next exchange of a TXOP, not for all its rest (ns-3: no)", reserveNext);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::QosFrameExchangeManager::PifsRecovery", BooleanValue(pifsRecovery));

    NodeContainer nodes(1 + (one ? each : 3 * each));
    PlaceOnCircle(nodes, 1);
    auto phy = EqualPowerPhy();
    Radio radio = Radio::A();
    radio.qos = true;
    if (reserveNext)
    {
        // The same on the air, by the one class of ns-3 in which the functions can be replaced.
        radio.standard = WIFI_STANDARD_80211n;
        phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
        ReserveForNextFrame();
    }
    auto devices = InstallDevices(nodes, phy, radio);
    SetParameters(devices, bursts);
    InternetStackHelper().Install(nodes);
    auto interfaces = AssignAddresses(devices);
    run.Watch(devices);
    for (uint32_t i = 0; i < 3 * each; ++i)
    {
        const auto& category = kCategories[i / each];
        const uint32_t node = one ? 1 + i % each : 1 + i;
        auto& flow = run.flows.emplace_back();
        auto queue = MacOf(devices, node)->GetQosTxop(category.index)->GetWifiMacQueue();
        flow.name = std::string(category.name) + "-n" + std::to_string(node);
        flow.payload = payload;
        flow.Connect(nodes.Get(node), nodes.Get(0), interfaces.GetAddress(0), kPort + i, category.priority);
        run.nodes[node].WatchService(queue);
        // A TXOP takes packets faster than events make them, unless enough wait: more than the longest burst.
        Simulator::ScheduleWithContext(node, MicroSeconds(7 * i), &Flow::Saturate, &flow, queue, 20);
    }
    run.Play();
}
