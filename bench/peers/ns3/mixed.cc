// Network (p): stations of several standards at 2.4 GHz that send to an access point of 802.11ax (peer-mixed). --kinds names them:
// b (11 Mb/s), g (54), n (MCS 7), ax (MCS 7, 0.8 us). Best effort without TXOP limit, equal power, no beacons while it counts.
// Needs ns-3.44.
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/traffic-control-layer.h"
#include "outcome.h"
#include <sstream>

int
main(int argc, char* argv[])
{
    uint32_t payload = 1000;
    std::string kinds = "b,g", erp = "Cts-To-Self";
    Run run(6, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("kinds", "stations", kinds);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("erp", "protection: Cts-To-Self or Rts-Cts", erp);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    std::vector<std::string> names;
    for (std::stringstream all(kinds); all.good();)
    {
        std::getline(all, names.emplace_back(), ',');
    }
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("3000p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    Config::SetDefault("ns3::WifiRemoteStationManager::ErpProtectionMode", StringValue(erp));
    NodeContainer nodes(names.size() + 1);
    MobilityHelper mobility;
    mobility.Install(nodes);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-20));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{1, 0, BAND_2_4GHZ, 0}"));
    const Ssid ssid("cell");
    WifiHelper wifi;
    NetDeviceContainer devices;
    const auto add = [&](uint32_t node, WifiStandard standard, const std::string& data) {
        wifi.SetStandard(standard);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode",
                                     StringValue("DsssRate1Mbps"), "NonUnicastMode", StringValue("DsssRate1Mbps"));
        WifiMacHelper mac;
        const UintegerValue ampdu(standard == WIFI_STANDARD_80211ax ? 6500631 : standard == WIFI_STANDARD_80211n ? 65535 : 0);
        if (node == 0)
        {
            mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(true), "BE_MaxAmpduSize", ampdu,
                        "BE_MaxAmsduSize", UintegerValue(0), "EnableBeaconJitter", BooleanValue(false), "BeaconInterval",
                        TimeValue(MicroSeconds(102400)));
        }
        else
        {
            mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "MaxMissedBeacons", UintegerValue(100000), "QosSupported", BooleanValue(true), "BE_MaxAmpduSize",
                        ampdu, "BE_MaxAmsduSize", UintegerValue(0));
        }
        if (standard == WIFI_STANDARD_80211ax)
        {
            wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)));
        }
        devices.Add(wifi.Install(phy, mac, nodes.Get(node)));
    };
    add(0, WIFI_STANDARD_80211ax, "HeMcs7");
    for (uint32_t i = 0; i < names.size(); ++i)
    {
        const auto& name = names[i];
        name == "b"   ? add(i + 1, WIFI_STANDARD_80211b, "DsssRate11Mbps")
        : name == "g" ? add(i + 1, WIFI_STANDARD_80211g, "ErpOfdmRate54Mbps")
        : name == "n" ? add(i + 1, WIFI_STANDARD_80211n, "HtMcs7")
                      : add(i + 1, WIFI_STANDARD_80211ax, "HeMcs7");
    }
    InternetStackHelper().Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto layer = nodes.Get(i)->GetObject<TrafficControlLayer>();
        if (layer->GetRootQueueDiscOnDevice(devices.Get(i)))
        {
            layer->DeleteRootQueueDiscOnDevice(devices.Get(i));
        }
    }
    // The stations know from beacons whom they protect; then there are no more.
    Simulator::Schedule(MilliSeconds(450), [&] {
        DynamicCast<WifiNetDevice>(devices.Get(0))->GetMac()->SetAttribute("BeaconInterval", TimeValue(MicroSeconds(61440000)));
    });
    Simulator::Schedule(MilliSeconds(499), [&] {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            auto cache = nodes.Get(i)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
            for (uint32_t j = 0; j < devices.GetN(); ++j)
            {
                auto entry = cache->Lookup(interfaces.GetAddress(j));
                entry = entry ? entry : cache->Add(interfaces.GetAddress(j));
                entry->SetMacAddress(devices.Get(j)->GetAddress());
                entry->MarkPermanent();
            }
        }
    });
    run.Watch(devices);
    for (uint32_t i = 1; i < devices.GetN(); ++i)
    {
        auto& flow = run.flows.emplace_back();
        flow.name = names[i - 1];
        flow.payload = payload;
        flow.Connect(nodes.Get(i), nodes.Get(0), interfaces.GetAddress(0), kPort + i);
        auto queue = DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->GetQosTxop(AC_BE)->GetWifiMacQueue();
        const auto receiver = Mac48Address::ConvertFrom(devices.Get(0)->GetAddress());
        Simulator::ScheduleWithContext(i, MilliSeconds(500) + MicroSeconds(7 * i), &Flow::SaturateTo, &flow, queue, 600, receiver);
    }
    run.Play();
}
