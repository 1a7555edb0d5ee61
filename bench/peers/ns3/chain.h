// Nodes in a line, neighbours decodable: the channel and the static routes of networks (d) and (j).
#pragma once
#include "network.h"

// Friis is what two-ray ground gives at 30 and 60 m: -54.6 and -60.6 dBm. The receive threshold lies half-way (in metres:
// 42). ns-3 takes a Wi-Fi signal below the preamble detector's minimum for energy only and compares it with
// CcaSensitivity; RxSensitivity would make it vanish, interference included.
inline YansWifiPhyHelper
ChainPhy(const std::string& far, double capture, double energy = -63.6)
{
    const double threshold = far == "frame" ? -82.0 : -57.6;
    const double sensed = far == "none" ? -57.6 : energy;
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FriisPropagationLossModel", "Frequency", DoubleValue(2.412e9));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(15));
    phy.Set("TxPowerEnd", DoubleValue(15));
    phy.Set("CcaSensitivity", DoubleValue(sensed));
    phy.Set("CcaEdThreshold", DoubleValue(sensed));
    // A neighbour's frame lies 6 dB above one from two hops away. From 4 dB ns-3 locks on it, and the payload survives by
    // its error model or ends as a bad frame, with EIFS; with 10 dB, as in ns-2, both are lost as mere energy.
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                  "MinimumRssi", DoubleValue(threshold),
                                  "Threshold", DoubleValue(capture));
    return phy;
}

// From every node to every other by the neighbour on the way. The subnet's own route says that all are neighbours; a host
// route is more specific.
inline void
PinRoutes(const NodeContainer& nodes, const Ipv4InterfaceContainer& interfaces)
{
    for (uint32_t here = 0; here < nodes.GetN(); ++here)
    {
        auto routes = Ipv4StaticRoutingHelper().GetStaticRouting(nodes.Get(here)->GetObject<Ipv4>());
        for (uint32_t there = 0; there < nodes.GetN(); ++there)
        {
            if (there != here)
            {
                const uint32_t next = there > here ? here + 1 : here - 1;
                routes->AddHostRouteTo(interfaces.GetAddress(there), interfaces.GetAddress(next), 1);
            }
        }
    }
}
