// What the two programs share: plain DCF devices without any queue above the MAC's, frame counters, packets with a
// time stamp, and the JSON line. For ns-3.37 (Debian's libns3-dev).
#pragma once
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/seq-ts-header.h"
#include "ns3/wifi-module.h"
#include <cstdio>
#include <sstream>
#include <sys/resource.h>

using namespace ns3;

constexpr uint16_t kPort = 9;

// Data frames of one node. A frame is an attempt whenever it goes on the air and a collision when its ACK is missing.
struct Frames
{
    uint64_t attempts = 0, collisions = 0, delivered = 0, retryDrops = 0;

    void OnSent(WifiConstPsduMap psdus, WifiTxVector, double)
    {
        for (const auto& [staId, psdu] : psdus)
        {
            attempts += psdu->GetHeader(0).IsData();
        }
    }

    void OnFailed(Mac48Address) { ++collisions; }

    void OnAcked(Ptr<const WifiMpdu>) { ++delivered; }

    void OnDropped(WifiMacDropReason reason, Ptr<const WifiMpdu>)
    {
        retryDrops += reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
    }

    void Watch(Ptr<NetDevice> device)
    {
        auto wifi = DynamicCast<WifiNetDevice>(device);
        wifi->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Frames::OnSent, this));
        wifi->GetRemoteStationManager()->TraceConnectWithoutContext("MacTxDataFailed",
                                                                    MakeCallback(&Frames::OnFailed, this));
        wifi->GetMac()->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&Frames::OnAcked, this));
        wifi->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Frames::OnDropped, this));
    }

    void Reset() { *this = Frames{}; }
};

// One flow of UDP packets, stamped when made.
struct Flow
{
    std::string name;
    uint64_t sent = 0, received = 0;
    Time delaySum, delayMax;
    Ptr<Socket> socket;

    void Send(uint32_t payload)
    {
        SeqTsHeader stamp; // 12 of the payload's bytes
        auto packet = Create<Packet>(payload - stamp.GetSerializedSize());
        packet->AddHeader(stamp);
        socket->Send(packet);
        ++sent;
    }

    void Receive(Ptr<Socket> from)
    {
        while (auto packet = from->Recv())
        {
            SeqTsHeader stamp;
            packet->RemoveHeader(stamp);
            const Time delay = Simulator::Now() - stamp.GetTs();
            ++received;
            delaySum += delay;
            delayMax = Max(delayMax, delay);
        }
    }

    void Connect(Ptr<Node> source, Ipv4Address destination, uint16_t port)
    {
        socket = Socket::CreateSocket(source, UdpSocketFactory::GetTypeId());
        socket->Connect(InetSocketAddress(destination, port));
    }

    void Listen(Ptr<Node> destination, uint16_t port)
    {
        auto sink = Socket::CreateSocket(destination, UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(MakeCallback(&Flow::Receive, this));
    }
};

// Ad hoc devices with one DCF queue of `queueLimit` packets: no QoS, no rate control, no expiry, and no flow control,
// for that would let the traffic-control layer drop new packets before the MAC's queue can drop its oldest.
inline NetDeviceContainer
InstallDcf(NodeContainer nodes, YansWifiPhyHelper& phy, bool ofdm, const std::string& queueLimit)
{
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(queueLimit));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    WifiHelper wifi;
    wifi.SetStandard(ofdm ? WIFI_STANDARD_80211g : WIFI_STANDARD_80211b);
    wifi.DisableFlowControl();
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(ofdm ? "ErpOfdmRate54Mbps" : "DsssRate11Mbps"),
                                 "ControlMode", StringValue(ofdm ? "ErpOfdmRate6Mbps" : "DsssRate1Mbps"),
                                 "MaxSsrc", UintegerValue(7));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, nodes);
    const auto at = [&devices](uint32_t i) { return DynamicCast<WifiNetDevice>(devices.Get(i)); };
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto manager = at(i)->GetRemoteStationManager();
        if (ofdm)
        {
            at(i)->GetPhy()->SetSlot(MicroSeconds(9)); // short slot: no 802.11b stations near
            at(i)->GetMac()->GetTxop()->SetMinCw(15);
        }
        // On first contact an ad hoc MAC makes all mandatory rates basic, and ACKs would go out at 11 or 24 Mb/s. A
        // peer that is already known leaves the basic set alone.
        manager->AddBasicMode(WifiMode(ofdm ? "ErpOfdmRate6Mbps" : "DsssRate1Mbps"));
        for (uint32_t j = 0; j < devices.GetN(); ++j)
        {
            const auto peer = at(j)->GetMac()->GetAddress();
            manager->AddSupportedMode(peer, WifiMode(ofdm ? "ErpOfdmRate54Mbps" : "DsssRate11Mbps"));
            manager->RecordDisassociated(peer);
        }
    }
    return devices;
}

inline void
WriteJson(double simulated, uint32_t payload, const std::vector<Flow>& flows, const std::vector<Frames>& nodes)
{
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
    std::printf("{\"simulator\": \"ns-3.37\", \"seed\": %lu, \"simulated_s\": %.9g, \"cpu_s\": %.6f, \"events\": %lu",
                static_cast<unsigned long>(RngSeedManager::GetRun()), simulated,
                seconds(used.ru_utime) + seconds(used.ru_stime),
                static_cast<unsigned long>(Simulator::GetEventCount()));
    std::printf(", \"flows\": [");
    for (size_t i = 0; i < flows.size(); ++i)
    {
        const auto& f = flows[i];
        std::printf("%s{\"name\": \"%s\", \"sent_packets\": %lu, \"received_packets\": %lu, \"goodput_bps\": %.9g, "
                    "\"loss_ratio\": %.9g, \"delay_s\": {\"mean\": %.9g, \"max\": %.9g}}",
                    i ? ", " : "", f.name.c_str(), f.sent, f.received, 8.0 * payload * f.received / simulated,
                    f.sent ? 1.0 - double(f.received) / f.sent : 0.0,
                    f.received ? f.delaySum.GetSeconds() / f.received : 0.0, f.delayMax.GetSeconds());
    }
    std::printf("], \"nodes\": [");
    for (size_t i = 0; i < nodes.size(); ++i)
    {
        const auto& n = nodes[i];
        std::printf("%s{\"name\": \"n%zu\", \"mac\": {\"attempts\": %lu, \"collisions\": %lu, \"delivered\": %lu, "
                    "\"retry_drops\": %lu}}",
                    i ? ", " : "", i, n.attempts, n.collisions, n.delivered, n.retryDrops);
    }
    std::printf("]}\n");
}
