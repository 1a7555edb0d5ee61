// Network (o), OFDMA: an access point of 802.11ax that sends to its stations in HE MU PPDUs by ns-3's round-robin multi-user
// scheduler, acknowledged after a MU-BAR trigger. Stations on a circle of 1 m; every node hears every other with the same
// power. Two streams, MCS 11, 0.8 us, 80 MHz at 5 GHz; best effort: AIFSN 3, CW 15 to 1023, no TXOP limit. The stations
// associate; beacons go on. Needs ns-3.44.
#include "ns3/mobility-module.h"
#include "ns3/multi-model-spectrum-channel.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/rr-multi-user-scheduler.h"
#include "ns3/spectrum-wifi-helper.h"
#include "ns3/traffic-control-layer.h"
#include "outcome.h"

int
main(int argc, char* argv[])
{
    uint32_t stations = 4, payload = 1000;
    Run run(1.5, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "stations, all in each PPDU", stations);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(run.seed);
    const uint32_t waiting = 600;
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(stations * waiting + 100) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    Config::SetDefault("ns3::WifiDefaultAckManager::DlMuAckSequenceType", EnumValue(WifiAcknowledgment::DL_MU_TF_MU_BAR));

    NodeContainer nodes(stations + 1);
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; ++i)
    {
        const double angle = 2 * M_PI * i / stations;
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);
    auto channel = CreateObject<MultiModelSpectrumChannel>();
    auto loss = CreateObject<FixedRssLossModel>();
    loss->SetRss(-20);
    channel->AddPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    SpectrumWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("ChannelSettings", StringValue("{0, 80, BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(2));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(2));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(2));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211ax);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HeMcs11"), "ControlMode",
                                 StringValue("OfdmRate6Mbps"));
    wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)));
    const Ssid ssid("ofdma");
    WifiMacHelper mac;
    mac.SetMultiUserScheduler("ns3::RrMultiUserScheduler", "NStations", UintegerValue(stations), "EnableUlOfdma",
                              BooleanValue(false), "EnableBsrp", BooleanValue(false));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(6500631), "BE_MaxAmsduSize",
                UintegerValue(0));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes.Get(0));
    WifiMacHelper own;
    own.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(6500631), "BE_MaxAmsduSize",
                UintegerValue(0));
    for (uint32_t i = 1; i <= stations; ++i)
    {
        devices.Add(wifi.Install(phy, own, nodes.Get(i)));
    }
    InternetStackHelper().Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto layer = devices.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
        if (layer->GetRootQueueDiscOnDevice(devices.Get(i)))
        {
            layer->DeleteRootQueueDiscOnDevice(devices.Get(i));
        }
        auto cache = nodes.Get(i)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        for (uint32_t j = 0; j < devices.GetN(); ++j)
        {
            auto entry = cache->Add(interfaces.GetAddress(j));
            entry->SetMacAddress(devices.Get(j)->GetAddress());
            entry->MarkPermanent();
        }
    }
    run.Watch(devices);
    auto queue = DynamicCast<WifiNetDevice>(devices.Get(0))->GetMac()->GetQosTxop(AC_BE)->GetWifiMacQueue();
    for (uint32_t i = 1; i <= stations; ++i)
    {
        auto& flow = run.flows.emplace_back();
        flow.name = "down-n" + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(0), nodes.Get(i), interfaces.GetAddress(i), kPort + i);
        const auto receiver = Mac48Address::ConvertFrom(devices.Get(i)->GetAddress());
        // Once all have associated.
        Simulator::ScheduleWithContext(0, MilliSeconds(500) + MicroSeconds(7 * i), &Flow::SaturateTo, &flow, queue, waiting,
                                       receiver);
    }
    run.Play();
}
