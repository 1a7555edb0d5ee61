// TCP connections of network (h) and of TCP over chains (j): parameters, a greedy sender with its sink, and what is counted.
#pragma once
#include "outcome.h"
#include "ns3/applications-module.h"

// What a connection counts at its sender, and the receiver's bytes.
struct Connection
{
    std::string name;
    uint32_t segment = 1000; // bytes
    Ptr<PacketSink> sink;
    uint64_t bytesBefore = 0, segments = 0, retransmits = 0, timeouts = 0;
    SequenceNumber32 sentTo{0}, ackedTo{0};
    Times times;
    double smoothed = 0, smoothedMax = 0, smoothedEach = 0, smoothedEachMax = 0;

    void OnSent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        ++segments;
        const auto end = header.GetSequenceNumber() + packet->GetSize();
        retransmits += end <= sentTo;
        sentTo = std::max(sentTo, end);
    }

    // Timestamps are whole milliseconds; the samples are those of acknowledgements of new data. Smoothed by RFC 7323,
    // appendix G, so that a window's samples weigh an eighth, and as ns-3 does it, an eighth for each sample.
    void OnReceived(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (header.GetAckNumber() <= ackedTo || !header.HasOption(TcpOption::TS) || (header.GetFlags() & TcpHeader::SYN))
        {
            return;
        }
        const double samples = std::max(1.0, std::ceil((sentTo - ackedTo) / (2.0 * segment))); // of a window
        ackedTo = header.GetAckNumber();
        auto stamp = DynamicCast<const TcpOptionTS>(header.GetOption(TcpOption::TS));
        const Time sample = TcpOptionTS::ElapsedTimeFromTsValue(stamp->GetEcho());
        times.Add(sample);
        const double rtt = sample.GetSeconds();
        smoothed = smoothed == 0 ? rtt : smoothed + (rtt - smoothed) / (8 * samples);
        smoothedEach = smoothedEach == 0 ? rtt : smoothedEach + (rtt - smoothedEach) / 8;
        smoothedMax = std::max(smoothedMax, smoothed);
        smoothedEachMax = std::max(smoothedEachMax, smoothedEach);
    }

    void OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        timeouts += now == TcpSocketState::CA_LOSS;
    }

    void Restart()
    {
        bytesBefore = sink->GetTotalRx();
        segments = retransmits = timeouts = 0;
        times = Times{};
        smoothedMax = smoothed;
        smoothedEachMax = smoothedEach;
    }

    std::string Json(double seconds)
    {
        char text[512];
        std::snprintf(text, sizeof text,
                      "{\"name\": \"%s\", \"sent_packets\": %lu, \"goodput_bps\": %.9g, \"retransmits\": %lu, "
                      "\"timeouts\": %lu, \"srtt_max_s\": %.9g, \"srtt_each_max_s\": %.9g, \"rtt_s\": %s}",
                      name.c_str(), segments, 8.0 * (sink->GetTotalRx() - bytesBefore) / seconds, retransmits, timeouts,
                      smoothedMax, smoothedEachMax, times.Json().c_str());
        return text;
    }

    // A greedy sender at `from` to `address`, which `to` has; `ackTos` is the receiver's.
    void Open(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, uint8_t ackTos, Time start)
    {
        sink = CreateObjectWithAttributes<PacketSink>("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()),
                                                      "Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
        to->AddApplication(sink);
        Simulator::ScheduleWithContext(to->GetId(), NanoSeconds(1), [this, ackTos] {
            sink->GetListeningSocket()->SetIpTos(ackTos);
        });
        auto bulk = CreateObjectWithAttributes<BulkSendApplication>("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()),
                                                                    "Remote", AddressValue(InetSocketAddress(address, port)),
                                                                    "SendSize", UintegerValue(segment));
        from->AddApplication(bulk);
        bulk->SetStartTime(start);
        Simulator::ScheduleWithContext(from->GetId(), start + NanoSeconds(1), [this, bulk] {
            auto socket = bulk->GetSocket();
            socket->TraceConnectWithoutContext("Tx", MakeCallback(&Connection::OnSent, this));
            socket->TraceConnectWithoutContext("Rx", MakeCallback(&Connection::OnReceived, this));
            socket->TraceConnectWithoutContext("CongState", MakeCallback(&Connection::OnState, this));
        });
    }
};

inline void
SetTcp(const std::string& congestion, const std::string& recovery, bool hystart)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + congestion)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::" + recovery)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(hystart));
}

// The other parameters of network (k): NewReno without options unless SACK is asked for, every segment acknowledged.
inline void
SetPlainTcp(uint32_t segment, bool sack)
{
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}
