// Replaces two of the library's functions in the programs: no attribute chooses what they do.
#include "txop.h"

#include "ns3/qos-frame-exchange-manager.h"
#include "ns3/wifi-mac-trailer.h"
#include "ns3/wifi-net-device.h"

using namespace ns3;

static bool g_nextFrame = false;

void
ReserveForNextFrame()
{
    g_nextFrame = true;
}

Time
QosFrameExchangeManager::GetFrameDurationId(const WifiMacHeader& header,
                                            uint32_t size,
                                            const WifiTxParameters& txParams,
                                            Ptr<Packet> fragmentedPacket) const
{
    if (!m_edca || m_edca->GetTxopLimit(m_linkId).IsZero())
    {
        return FrameExchangeManager::GetFrameDurationId(header, size, txParams, fragmentedPacket);
    }
    const Time own = m_phy->CalculateTxDuration(size, txParams.m_txVector, m_phy->GetPhyBand());
    const Time ack = txParams.m_acknowledgment->acknowledgmentTime;
    const Time rest = m_edca->GetRemainingTxop(m_linkId) - own;
    const Time next = ack + m_phy->GetSifs() + own + ack;
    return std::max(g_nextFrame ? (next <= rest ? next : ack) : rest, ack);
}

bool
QosFrameExchangeManager::SendCfEndIfNeeded()
{
    WifiMacHeader cfEnd;
    cfEnd.SetType(WIFI_MAC_CTL_END);
    cfEnd.SetDuration(Seconds(0));
    cfEnd.SetAddr1(Mac48Address::GetBroadcast());
    cfEnd.SetAddr2(m_self);
    const auto vector = GetWifiRemoteStationManager()->GetRtsTxVector(cfEnd.GetAddr1());
    const Time length = m_phy->CalculateTxDuration(cfEnd.GetSize() + WIFI_MAC_FCS_LENGTH, vector, m_phy->GetPhyBand());
    if (!g_nextFrame && m_edca->GetRemainingTxop(m_linkId) > length)
    {
        m_phy->Send(Create<WifiPsdu>(Create<Packet>(), cfEnd), vector);
        Simulator::Schedule(length, &Txop::NotifyChannelReleased, m_edca, m_linkId);
        return true;
    }
    m_edca->NotifyChannelReleased(m_linkId);
    m_edca = nullptr;
    return false;
}
