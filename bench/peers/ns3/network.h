// The devices of every program: ad hoc, one rate, no expiry, no queue above the MAC's, neighbours known from the start. No
// flow control (it would let the traffic-control layer drop new packets before the MAC's queue can drop its oldest), but
// with QoS: without it that layer takes the priority from packets for a device of one queue.
#pragma once
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/traffic-control-layer.h"
#include "outcome.h"

// A PHY and its rates, all nodes alike.
struct Radio
{
    WifiStandard standard;
    std::string data, basic;
    bool qos = false;
    bool rts = false;
    std::string queue = "1000p";
    std::string drop = "DropNewest";
    uint32_t ampdu = 0; // most bytes of a best-effort A-MPDU, 0 for none

    static Radio B(const std::string& data = "DsssRate11Mbps")
    {
        return {WIFI_STANDARD_80211b, data, "DsssRate1Mbps"};
    }

    static Radio A() { return {WIFI_STANDARD_80211a, "OfdmRate54Mbps", "OfdmRate6Mbps"}; }

    static Radio G() { return {WIFI_STANDARD_80211g, "ErpOfdmRate54Mbps", "ErpOfdmRate6Mbps"}; }

    // HT at 5 GHz, 20 MHz, long guard interval.
    static Radio N(uint32_t mcs)
    {
        return {WIFI_STANDARD_80211n, "HtMcs" + std::to_string(mcs), "OfdmRate6Mbps", true};
    }
};

// The longest PSDU whose PPDU with an HT-mixed preamble lasts no longer than this, 20 MHz and long guard interval.
inline uint32_t
BytesWithin(double microseconds, uint32_t mcs)
{
    static const uint32_t kBitsPerSymbol[] = {26, 52, 78, 104, 156, 208, 234, 260};
    const uint32_t streams = mcs / 8 + 1;
    // 20 us legacy part, 8 us HT-SIG, 4 us HT-STF, 4 us HT-LTF a stream (a fourth for three).
    const double preamble = 32 + 4.0 * (streams == 3 ? 4 : streams);
    const auto symbols = static_cast<uint32_t>((microseconds - preamble) / 4);
    return (symbols * kBitsPerSymbol[mcs % 8] * streams - 22) / 8; // 16 bits SERVICE, 6 bits tail
}

inline Ptr<WifiMac>
MacOf(const NetDeviceContainer& devices, uint32_t node)
{
    return DynamicCast<WifiNetDevice>(devices.Get(node))->GetMac();
}

// On first contact an ad hoc MAC makes all mandatory rates basic, and ACKs would go out at 11 or 24 Mb/s. A peer that is
// already known leaves the basic set alone.
inline void
Acquaint(const NetDeviceContainer& devices, uint32_t node, const Radio& radio)
{
    auto mac = MacOf(devices, node);
    auto manager = mac->GetWifiRemoteStationManager();
    manager->AddBasicMode(WifiMode(radio.basic));
    for (uint32_t j = 0; j < devices.GetN(); ++j)
    {
        const auto peer = MacOf(devices, j)->GetAddress();
        if (radio.standard == WIFI_STANDARD_80211n)
        {
            manager->AddAllSupportedMcs(peer);
            manager->AddStationHtCapabilities(peer, mac->GetHtCapabilities(SINGLE_LINK_OP_ID));
        }
        if (radio.data.find("Mcs") == std::string::npos)
        {
            manager->AddSupportedMode(peer, WifiMode(radio.data));
        }
        manager->RecordDisassociated(peer);
    }
}

inline NetDeviceContainer
InstallDevices(const NodeContainer& nodes, YansWifiPhyHelper& phy, const Radio& radio)
{
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(radio.queue));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    Config::SetDefault("ns3::FcfsWifiQueueScheduler::DropPolicy", StringValue(radio.drop));
    WifiHelper wifi;
    wifi.SetStandard(radio.standard);
    if (!radio.qos)
    {
        wifi.DisableFlowControl();
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(radio.data),
                                 "ControlMode", StringValue(radio.basic),
                                 "NonUnicastMode", StringValue(radio.basic),
                                 "RtsCtsThreshold", UintegerValue(radio.rts ? 0 : 65535),
                                 "MaxSsrc", UintegerValue(7));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(radio.qos),
                "BE_MaxAmpduSize", UintegerValue(radio.ampdu),
                "VI_MaxAmpduSize", UintegerValue(0)); // by default 65535 B
    auto devices = wifi.Install(phy, mac, nodes);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        if (radio.standard == WIFI_STANDARD_80211g) // short slot: no 802.11b stations near
        {
            DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->SetSlot(MicroSeconds(9));
            MacOf(devices, i)->GetTxop()->SetMinCw(15);
        }
        Acquaint(devices, i, radio);
    }
    return devices;
}

// Addresses 10.0.0.1 and on, neighbours' hardware addresses known unless ARP is to ask for them.
inline Ipv4InterfaceContainer
AssignAddresses(const NetDeviceContainer& devices, bool arp = false)
{
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto layer = devices.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
        if (layer->GetRootQueueDiscOnDevice(devices.Get(i))) // assigned with the address
        {
            layer->DeleteRootQueueDiscOnDevice(devices.Get(i));
        }
    }
    for (uint32_t i = 0; i < devices.GetN() && !arp; ++i)
    {
        // Permanent: AODV takes an entry that NeighborCacheHelper made for unknown, and no failed frame for its link's.
        auto cache = devices.Get(i)->GetNode()->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        for (uint32_t j = 0; j < devices.GetN(); ++j)
        {
            auto entry = cache->Add(interfaces.GetAddress(j));
            entry->SetMacAddress(devices.Get(j)->GetAddress());
            entry->MarkPermanent();
        }
    }
    return interfaces;
}

// Node 0 in the centre, the others evenly on a circle of `radius` metres around it.
inline void
PlaceOnCircle(const NodeContainer& nodes, double radius)
{
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 1; i < nodes.GetN(); ++i)
    {
        const double angle = 2 * M_PI * (i - 1) / (nodes.GetN() - 1);
        places->Add(Vector(radius * std::cos(angle), radius * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.Install(nodes);
}

// A channel on which every frame arrives at every node with the same power: whatever overlaps is lost.
inline YansWifiPhyHelper
EqualPowerPhy()
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(-50));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    return phy;
}
