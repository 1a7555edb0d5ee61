// Replaces the library's function of this name in the programs: no attribute chooses what it does.
#include "feedback.h"

#include "ns3/aodv-routing-protocol.h"
#include "ns3/arp-cache.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-mpdu.h"

static bool g_everyLink = false;

void
BreakEveryFailedLink()
{
    g_everyLink = true;
}

void
ns3::aodv::RoutingProtocol::NotifyTxError(WifiMacDropReason reason, Ptr<const WifiMpdu> mpdu)
{
    const auto& header = mpdu->GetHeader();
    if (!g_everyLink)
    {
        m_nb.GetTxErrorCallback()(header);
        return;
    }
    if (reason != WIFI_MAC_DROP_REACHED_RETRY_LIMIT)
    {
        return;
    }
    auto layer = m_ipv4->GetObject<Ipv4L3Protocol>();
    for (auto* entry : layer->GetInterface(1)->GetArpCache()->LookupInverse(header.GetAddr1()))
    {
        const auto neighbour = entry->GetIpv4Address();
        const bool known = m_nb.IsNeighbor(neighbour);
        m_nb.GetTxErrorCallback()(header);
        if (!known)
        {
            SendRerrWhenBreaksLinkToNextHop(neighbour);
        }
    }
}
