// The channel of networks (g) and (k): two-ray ground at 914 MHz, antennas at 1.5 m, and how far a signal reaches in metres.
// What lies below carrier sense counts for nothing.
#pragma once
#include "network.h"

// Received power in dBm at this distance, for 15 dBm sent.
inline double
PowerAt(Ptr<PropagationLossModel> loss, double metres)
{
    auto sender = CreateObject<ConstantPositionMobilityModel>();
    auto receiver = CreateObject<ConstantPositionMobilityModel>();
    receiver->SetPosition(Vector(metres, 0, 0));
    return loss->CalcRxPower(15, sender, receiver);
}

inline YansWifiPhyHelper
RangedPhy(double range, double sense, double capture)
{
    auto loss = CreateObject<TwoRayGroundPropagationLossModel>();
    loss->SetFrequency(914e6);
    loss->SetHeightAboveZ(1.5);
    auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    phy.Set("TxPowerStart", DoubleValue(15));
    phy.Set("TxPowerEnd", DoubleValue(15));
    phy.Set("RxSensitivity", DoubleValue(PowerAt(loss, sense)));
    phy.Set("CcaSensitivity", DoubleValue(PowerAt(loss, sense)));
    phy.Set("CcaEdThreshold", DoubleValue(PowerAt(loss, sense)));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                  "MinimumRssi", DoubleValue(PowerAt(loss, range)),
                                  "Threshold", DoubleValue(capture));
    return phy;
}
