// A cell of 802.11ax at 5 GHz in ns-3.44: an access point and its stations, which associate; beacons go on. Two streams, MCS
// 11, 0.8 us; best effort without TXOP limit. Every node hears every other with the same power.
#pragma once

#include "ns3/mobility-module.h"
#include "ns3/multi-model-spectrum-channel.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/spectrum-wifi-helper.h"
#include "ns3/traffic-control-layer.h"
#include "outcome.h"

namespace ns3
{

/// Packets that wait for each receiver.
const uint32_t kWaiting = 600;

/// All cells of a network, on one spectrum.
class Cells
{
  public:
    explicit Cells(uint32_t receivers)
    {
        Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(receivers * kWaiting + 100) + "p"));
        Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
        Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
        m_spectrum = CreateObject<MultiModelSpectrumChannel>();
        auto loss = CreateObject<FixedRssLossModel>();
        loss->SetRss(-20);
        m_spectrum->AddPropagationLossModel(loss);
        m_spectrum->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    }

    /// Adds a cell with this channel (number, width, band, primary 20 MHz), 1 m around (0, `at`).
    void Add(const std::string& channel, uint32_t stations, WifiMacHelper mac, double at)
    {
        NodeContainer own(stations + 1);
        auto places = CreateObject<ListPositionAllocator>();
        places->Add(Vector(0, at, 0));
        for (uint32_t i = 0; i < stations; ++i)
        {
            const double angle = 2 * M_PI * i / stations;
            places->Add(Vector(std::cos(angle), at + std::sin(angle), 0));
        }
        MobilityHelper mobility;
        mobility.SetPositionAllocator(places);
        mobility.Install(own);
        SpectrumWifiPhyHelper phy;
        phy.SetChannel(m_spectrum);
        phy.Set("ChannelSettings", StringValue(channel));
        // A frame stays in its channel.
        for (const auto* part : {"InnerBandMinimum", "OuterBandMinimum", "OuterBandMaximum"})
        {
            phy.Set(std::string("TxMask") + part + "Rejection", DoubleValue(-200));
        }
        phy.Set("Antennas", UintegerValue(2));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(2));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(2));
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211ax);
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("HeMcs11"), "ControlMode",
                                     StringValue("OfdmRate6Mbps"));
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)));
        const Ssid ssid("cell" + std::to_string(m_cells++));
        mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(6500631),
                    "BE_MaxAmsduSize", UintegerValue(0));
        devices.Add(wifi.Install(phy, mac, own.Get(0)));
        WifiMacHelper of_station;
        of_station.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid), "BE_MaxAmpduSize", UintegerValue(6500631),
                           "BE_MaxAmsduSize", UintegerValue(0));
        for (uint32_t i = 1; i <= stations; ++i)
        {
            devices.Add(wifi.Install(phy, of_station, own.Get(i)));
        }
        nodes.Add(own);
    }

    /// Gives all nodes addresses, and no queue above the MAC's.
    void Address()
    {
        InternetStackHelper().Install(nodes);
        m_interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            auto layer = nodes.Get(i)->GetObject<TrafficControlLayer>();
            if (layer->GetRootQueueDiscOnDevice(devices.Get(i)))
            {
                layer->DeleteRootQueueDiscOnDevice(devices.Get(i));
            }
        }
        Simulator::Schedule(start - MilliSeconds(1), &Cells::Know, this);
    }

    /// A saturated flow from `start` on.
    void Saturate(Run& run, const std::string& name, uint32_t from, uint32_t to, uint32_t payload)
    {
        auto& flow = run.flows.emplace_back();
        flow.name = name;
        flow.payload = payload;
        const uint32_t index = run.flows.size();
        flow.Connect(nodes.Get(from), nodes.Get(to), m_interfaces.GetAddress(to), kPort + index);
        const auto receiver = Mac48Address::ConvertFrom(devices.Get(to)->GetAddress());
        auto queue = DynamicCast<WifiNetDevice>(devices.Get(from))->GetMac()->GetQosTxop(AC_BE)->GetWifiMacQueue();
        Simulator::ScheduleWithContext(0, start + MicroSeconds(7 * index), &Flow::SaturateTo, &flow, queue,
                                       kWaiting, receiver);
    }

    /// When flows begin: once all have associated.
    Time start{MilliSeconds(500)};
    NodeContainer nodes;
    NetDeviceContainer devices;

  private:
    /// From now on all know all addresses. Before, a station would forget them when it associates.
    void Know()
    {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            auto cache = nodes.Get(i)->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
            for (uint32_t j = 0; j < devices.GetN(); ++j)
            {
                auto entry = cache->Lookup(m_interfaces.GetAddress(j));
                entry = entry ? entry : cache->Add(m_interfaces.GetAddress(j));
                entry->SetMacAddress(devices.Get(j)->GetAddress());
                entry->MarkPermanent();
            }
        }
    }

    Ptr<MultiModelSpectrumChannel> m_spectrum;
    Ipv4InterfaceContainer m_interfaces;
    uint32_t m_cells{0};
};

} // namespace ns3
