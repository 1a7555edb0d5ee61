// What every program counts and prints: frames and service times a node, packets and delays a flow, AODV's packets, and
// the JSON object in the keys of `sluice run --json`. For ns-3.37 (Debian's libns3-dev) and 3.44.
#pragma once
#include "ns3/aodv-packet.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/seq-ts-header.h"
#include "ns3/wifi-module.h"
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <optional>
#include <sys/resource.h>

#ifndef NS3_VERSION
#define NS3_VERSION "3.37"
#endif

using namespace ns3;

constexpr uint16_t kPort = 9;
constexpr uint16_t kAodvPort = 654;

// A distribution of times, kept whole: runs are short.
struct Times
{
    std::vector<double> seconds;

    void Add(Time time) { seconds.push_back(time.GetSeconds()); }

    std::string Json()
    {
        if (seconds.empty())
        {
            return "{\"mean\": 0, \"p50\": 0, \"p95\": 0, \"max\": 0}";
        }
        std::sort(seconds.begin(), seconds.end());
        double sum = 0;
        for (const double s : seconds)
        {
            sum += s;
        }
        const auto at = [this](double share) { return seconds[size_t(share * (seconds.size() - 1) + 0.5)]; };
        char text[160];
        std::snprintf(text, sizeof text, "{\"mean\": %.9g, \"p50\": %.9g, \"p95\": %.9g, \"max\": %.9g}",
                      sum / seconds.size(), at(0.5), at(0.95), seconds.back());
        return text;
    }
};

// Data frames of one node; an aggregate is one. A frame is an attempt whenever it goes on the air and a collision when its
// ACK or BlockAck is missing. Packets delivered and given up are counted one by one.
struct Frames
{
    uint64_t attempts = 0, collisions = 0, delivered = 0, retryDrops = 0, rts = 0, bars = 0;
    Times service;

    void OnSent(WifiConstPsduMap psdus, WifiTxVector, double)
    {
        for (const auto& [staId, psdu] : psdus)
        {
            const auto& header = psdu->GetHeader(0);
            rts += header.IsRts();
            bars += header.IsBlockAckReq();
            attempts += header.IsData() && !header.GetAddr1().IsGroup();
        }
    }

    void OnMpduTimeout(uint8_t, Ptr<const WifiMpdu> mpdu, const WifiTxVector&)
    {
        collisions += mpdu->GetHeader().IsData();
    }

    void OnPsduTimeout(uint8_t, Ptr<const WifiPsdu> psdu, const WifiTxVector&)
    {
        collisions += psdu->GetHeader(0).IsData();
    }

    void OnAcked(Ptr<const WifiMpdu> mpdu) { delivered += mpdu->GetHeader().IsData(); }

    void OnDropped(WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
    {
        retryDrops += mpdu->GetHeader().IsData() && reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
    }

    void Watch(Ptr<NetDevice> device)
    {
        auto wifi = DynamicCast<WifiNetDevice>(device);
        auto mac = wifi->GetMac();
        wifi->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Frames::OnSent, this));
        mac->TraceConnectWithoutContext("MpduResponseTimeout", MakeCallback(&Frames::OnMpduTimeout, this));
        mac->TraceConnectWithoutContext("PsduResponseTimeout", MakeCallback(&Frames::OnPsduTimeout, this));
        mac->TraceConnectWithoutContext("AckedMpdu", MakeCallback(&Frames::OnAcked, this));
        mac->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Frames::OnDropped, this));
    }

    // Times the head of a queue from the end of the packet before it (or its arrival) to its ACK or final failure. Only
    // where the queue never drops a waiting packet.
    void WatchService(Ptr<WifiMacQueue> queue)
    {
        auto since = std::make_shared<std::deque<Time>>();
        auto free = std::make_shared<Time>();
        const auto arrive = [since](Ptr<const WifiMpdu>) { since->push_back(Simulator::Now()); };
        const auto leave = [this, since, free](Ptr<const WifiMpdu>) {
            service.Add(Simulator::Now() - Max(*free, since->front()));
            since->pop_front();
            *free = Simulator::Now();
        };
        queue->TraceConnectWithoutContext("Enqueue", Callback<void, Ptr<const WifiMpdu>>(arrive));
        queue->TraceConnectWithoutContext("Dequeue", Callback<void, Ptr<const WifiMpdu>>(leave));
    }
};

// One flow of UDP packets, stamped when made.
struct Flow
{
    std::string name;
    uint32_t payload = 1000;
    uint64_t sent = 0, received = 0;
    Times delay;
    Ptr<Socket> socket;

    void Send()
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
            ++received;
            delay.Add(Simulator::Now() - stamp.GetTs());
        }
    }

    // One packet after another, by a process of arrivals.
    void SendEvery(Ptr<RandomVariableStream> gap)
    {
        Send();
        Simulator::Schedule(Seconds(gap->GetValue()), &Flow::SendEvery, this, gap);
    }

    // `priority` is the user priority of IEEE 802.1D: 0 best effort, 5 video, 6 voice.
    void Connect(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, uint8_t priority = 0)
    {
        socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        socket->Connect(InetSocketAddress(address, port));
        socket->SetIpTos(priority << 5); // from which the device chooses the category
        auto sink = Socket::CreateSocket(to, UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback(MakeCallback(&Flow::Receive, this));
    }

    // Keeps `packets` in the queue from which the flow's packets go: one that leaves is replaced, at no cost for packets
    // made in vain.
    void Saturate(Ptr<WifiMacQueue> queue, uint32_t packets) { SaturateTo(queue, packets, Mac48Address()); }

    // Of several flows that share a queue, each replaces the packets to its receiver.
    void SaturateTo(Ptr<WifiMacQueue> queue, uint32_t packets, Mac48Address receiver)
    {
        const auto refill = [this, receiver](Ptr<const WifiMpdu> mpdu) {
            const auto& header = mpdu->GetHeader();
            if (header.IsData() && (receiver == Mac48Address() || header.GetAddr1() == receiver))
            {
                Simulator::ScheduleNow(&Flow::Send, this);
            }
        };
        queue->TraceConnectWithoutContext("Dequeue", Callback<void, Ptr<const WifiMpdu>>(refill));
        Simulator::ScheduleNow([this, packets] {
            for (uint32_t i = 0; i < packets; ++i)
            {
                Send();
            }
        });
    }
};

// AODV packets that nodes hand to their interface, each hop and each broadcast one.
struct Routing
{
    uint64_t packets = 0, requests = 0, replies = 0, errors = 0;

    void OnSent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t interface)
    {
        Ipv4Header ip;
        UdpHeader udp;
        auto copy = packet->Copy();
        copy->RemoveHeader(ip);
        if (interface == 0 || ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER)
        {
            return;
        }
        copy->RemoveHeader(udp);
        if (udp.GetDestinationPort() == kAodvPort)
        {
            aodv::TypeHeader type;
            copy->RemoveHeader(type);
            ++packets;
            requests += type.Get() == aodv::AODVTYPE_RREQ;
            replies += type.Get() == aodv::AODVTYPE_RREP;
            errors += type.Get() == aodv::AODVTYPE_RERR;
        }
    }

    void Watch(Ptr<Node> node)
    {
        node->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&Routing::OnSent, this));
    }
};

// A flow of another kind than UDP packets: what it forgets at the end of the warm-up, and its JSON object.
struct OtherFlow
{
    std::function<void()> restart;
    std::function<std::string(double)> json;
};

// A run: its length and seed, what is counted, and the end.
struct Run
{
    uint32_t seed = 1;
    double duration, warmup;
    std::deque<Frames> nodes;
    std::deque<Flow> flows;
    std::vector<OtherFlow> others;
    std::function<uint64_t()> dropped; // packets that the watched queue discarded since the start
    std::optional<Routing> routing;

    Run(double duration, double warmup) : duration(duration), warmup(warmup) {}

    void AddOptions(CommandLine& cmd)
    {
        cmd.AddValue("seed", "run number of the random streams", seed);
        cmd.AddValue("duration", "simulated seconds, warm-up included", duration);
        cmd.AddValue("warmup", "simulated seconds before counting", warmup);
    }

    void Watch(const NetDeviceContainer& devices)
    {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            nodes.emplace_back().Watch(devices.Get(i));
        }
    }

    void Play()
    {
        Simulator::Schedule(Seconds(warmup), [this] {
            for (auto& node : nodes)
            {
                node = Frames{};
            }
            for (auto& flow : flows)
            {
                flow.sent = flow.received = 0;
                flow.delay = Times{};
            }
            for (auto& other : others)
            {
                other.restart();
            }
            if (routing)
            {
                *routing = Routing{};
            }
            droppedBefore = dropped ? dropped() : 0;
        });
        Simulator::Stop(Seconds(duration));
        Simulator::Run();
        WriteJson();
        Simulator::Destroy();
    }

  private:
    void WriteJson()
    {
        rusage used;
        getrusage(RUSAGE_SELF, &used);
        const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
        const double simulated = duration - warmup;
        std::printf("{\"simulator\": \"ns-" NS3_VERSION "\", \"seed\": %u, \"simulated_s\": %.9g, \"cpu_s\": %.6f, \"events\": %lu",
                    seed, simulated, seconds(used.ru_utime) + seconds(used.ru_stime),
                    static_cast<unsigned long>(Simulator::GetEventCount()));
        const char* comma = "";
        std::printf(", \"flows\": [");
        for (auto& f : flows)
        {
            std::printf("%s{\"name\": \"%s\", \"sent_packets\": %lu, \"received_packets\": %lu, \"goodput_bps\": %.9g, "
                        "\"loss_ratio\": %.9g, \"delay_s\": %s}",
                        comma, f.name.c_str(), f.sent, f.received, 8.0 * f.payload * f.received / simulated,
                        f.sent ? 1.0 - double(f.received) / f.sent : 0.0, f.delay.Json().c_str());
            comma = ", ";
        }
        for (auto& other : others)
        {
            std::printf("%s%s", comma, other.json(simulated).c_str());
            comma = ", ";
        }
        std::printf("], \"nodes\": [");
        comma = "";
        for (size_t i = 0; i < nodes.size(); ++i)
        {
            auto& n = nodes[i];
            std::printf("%s{\"name\": \"n%zu\", \"mac\": {\"attempts\": %lu, \"collisions\": %lu, \"delivered\": %lu, "
                        "\"retry_drops\": %lu, \"rts_attempts\": %lu, \"bars\": %lu, \"service_s\": %s}}",
                        comma, i, n.attempts, n.collisions, n.delivered, n.retryDrops, n.rts, n.bars,
                        n.service.Json().c_str());
            comma = ", ";
        }
        std::printf("]");
        if (routing)
        {
            std::printf(", \"totals\": {\"routing_packets\": %lu, \"rreq_packets\": %lu, \"rrep_packets\": %lu, "
                        "\"rerr_packets\": %lu}",
                        routing->packets, routing->requests, routing->replies, routing->errors);
        }
        if (dropped)
        {
            std::printf(", \"totals\": {\"dropped_packets\": %lu}", dropped() - droppedBefore);
        }
        std::printf("}\n");
    }

    uint64_t droppedBefore = 0;
};
