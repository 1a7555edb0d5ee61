// Network (o): 802.11ac and ax (peer-wide). Stations on a circle of 1 m and node 0 in its centre; every node hears every
// other with the same power. 5 GHz, one to eight streams, the shortest guard interval of HE, the long one of VHT; best
// effort: AIFSN 3, CW 15 to 1023, no TXOP limit; A-MPDU of 64 (VHT) or 256 (HE) frames and 5.484 ms; no A-MSDU, no RTS.
// Control frames at 24 Mb/s. With --hidden no station hears another; with --rts RTS precedes all data. With --load packets
// arrive as a Poisson process, else a queue is never empty. With --minstrel Minstrel-HT chooses the rate. With --old the
// last station is of 802.11ac, MCS 8, and all have windows of 64 frames: the receiver would grant it 256. Needs ns-3.44, in
// which every queue of a receiver is served in order of its oldest packet.
#include "ns3/mobility-module.h"
#include "ns3/propagation-module.h"
#include "ns3/queue-disc.h"
#include "ns3/table-based-error-rate-model.h"
#include "ns3/traffic-control-layer.h"
#include "errors.h"
#include "outcome.h"

static bool g_training = false;
// When every station has its BlockAck agreement.
static const Time kAgreed = MilliSeconds(100);

// Replaces the library's function of this name: with --training the fields between HE-SIG-A and the data count, too.
ns3::PhyEntity::SnrPer
ns3::InterferenceHelper::CalculatePayloadSnrPer(Ptr<Event> event,
                                                MHz_u width,
                                                const WifiSpectrumBandInfo& band,
                                                uint16_t staId,
                                                std::pair<Time, Time> window) const
{
    const auto tx = event->GetPpdu()->GetTxVector();
    NiChangesPerBand changes;
    const auto noise = CalculateNoiseInterferenceW(event, changes, band);
    double passed = 1 - CalculatePayloadPer(event, width, &changes, band, staId, window);
    if (g_training && tx.GetModulationClass() == WIFI_MOD_CLASS_HE)
    {
        const auto fields = WifiPhy::GetStaticPhyEntity(WIFI_MOD_CLASS_HE)->GetDuration(WIFI_PPDU_FIELD_TRAINING, tx);
        passed *= 1 - CalculatePayloadPer(event, width, &changes, band, staId, {Time(0) - fields, Time(0)});
    }
    return {CalculateSnr(event->GetRxPower(band), noise, width, tx.GetNss(staId)), 1 - passed};
}

int
main(int argc, char* argv[])
{
    uint32_t stations = 1, mcs = 7, streams = 1, width = 80, payload = 1000, guard = 800;
    std::string standard = "he";
    bool down = false, bar = true, durations = false, hidden = false, rts = false, minstrel = false, old = false;
    bool ldpc = false, training = false;
    double load = 0, rss = -20, ratio = 0, loseBelow = 0, learn = 0;
    Run run(3, 1);
    CommandLine cmd(__FILE__);
    cmd.AddValue("stations", "stations around node 0", stations);
    cmd.AddValue("standard", "vht or he", standard);
    cmd.AddValue("mcs", "0 to 9 or 11", mcs);
    cmd.AddValue("streams", "spatial streams", streams);
    cmd.AddValue("width", "MHz: 20, 40, 80, 160", width);
    cmd.AddValue("guard", "guard interval, ns", guard);
    cmd.AddValue("payload", "UDP payload of a packet, bytes", payload);
    cmd.AddValue("down", "node 0 sends to all others, not they to it", down);
    cmd.AddValue("bar", "after a missing BlockAck send a BlockAckReq (ns-3: yes), not the data again", bar);
    cmd.AddValue("hidden", "stations do not hear each other", hidden);
    cmd.AddValue("rts", "RTS before all data", rts);
    cmd.AddValue("load", "payload that arrives at a station, Mb/s; 0: saturated", load);
    cmd.AddValue("ratio", "print the share of MPDUs of 1066 B that its tables for LDPC let pass at this SNR in dB, and end", ratio);
    cmd.AddValue("rss", "power of every frame at its receiver, dBm", rss);
    cmd.AddValue("lose-below", "lose what lies less than this above interference, dB (0: ns-3's error model)", loseBelow);
    cmd.AddValue("ldpc", "receivers decode LDPC (ns-3: HE's headers do not tell)", ldpc);
    cmd.AddValue("training", "lose a frame whose training fields after HE-SIG-A are lost (ns-3: checks none)", training);
    cmd.AddValue("learn", "seconds during which an A-MPDU has two frames, so that Minstrel-HT soon has tried its modes", learn);
    cmd.AddValue("minstrel", "Minstrel-HT, not the one mode", minstrel);
    cmd.AddValue("old", "the last station is of 802.11ac, MCS 8", old);
    cmd.AddValue("durations", "only print durations of PPDUs: mode, streams, MHz, guard ns, PSDU bytes, ns", durations);
    run.AddOptions(cmd);
    cmd.Parse(argc, argv);
    const bool he = standard == "he";
    if (durations)
    {
        for (const std::string mode : {"HtMcs7", "VhtMcs0", "VhtMcs7", "VhtMcs8", "HeMcs0", "HeMcs7", "HeMcs11", "HeErMcs0", "HeErMcs2"})
        {
            const bool ht = mode[1] == 't', isHe = mode[1] == 'e', extended = mode[2] == 'E';
            for (const uint32_t mhz : {20, 40, 80, 160})
            {
                for (const uint32_t nss : {1, 2, 4, 8})
                {
                    for (const uint32_t bytes : {14, 100, 1066, 1540, 65535, 100001})
                    {
                        for (const uint32_t ns : isHe ? std::vector<uint32_t>{800, 1600, 3200} : std::vector<uint32_t>{400, 800})
                        {
                            if ((ht && (mhz > 40 || nss > 1 || bytes > 65535)) || (extended && (mhz > 20 || nss > 1)))
                            {
                                continue;
                            }
                            WifiTxVector tx;
                            tx.SetMode(WifiMode(extended ? "He" + mode.substr(4) : mode));
                            tx.SetPreambleType(ht         ? WIFI_PREAMBLE_HT_MF
                                               : extended ? WIFI_PREAMBLE_HE_ER_SU
                                               : isHe     ? WIFI_PREAMBLE_HE_SU
                                                          : WIFI_PREAMBLE_VHT_SU);
                            tx.SetChannelWidth(mhz);
                            tx.SetNss(nss);
                            tx.SetGuardInterval(NanoSeconds(ns));
                            const auto time = WifiPhy::CalculateTxDuration(bytes, tx, WIFI_PHY_BAND_5GHZ);
                            std::printf("%s,%u,%u,%u,%u,%lu\n", mode.c_str(), nss, mhz, ns, bytes,
                                        static_cast<unsigned long>(time.GetNanoSeconds()));
                        }
                    }
                }
            }
        }
        return 0;
    }
    if (ratio > 0)
    {
        // A receiver in a network takes HE frames to have no LDPC, because their headers do not tell.
        WifiTxVector tx;
        tx.SetMode(HePhy::GetHeMcs(mcs));
        tx.SetPreambleType(WIFI_PREAMBLE_HE_SU);
        tx.SetLdpc(true);
        auto model = CreateObject<TableBasedErrorRateModel>();
        std::printf("%.4f\n", model->GetChunkSuccessRate(tx.GetMode(), tx, std::pow(10, ratio / 10), 8 * 1066, 1,
                                                         WIFI_PPDU_FIELD_DATA, SU_STA_ID));
        return 0;
    }
    LoseBelow(loseBelow);
    DecodeLdpc(ldpc);
    g_training = training;
    RngSeedManager::SetRun(run.seed);
    const uint32_t waiting = 600; // a window of 256 under way and more behind it
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue(std::to_string(stations * waiting + 100) + "p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Hours(1)));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(bar));
    Config::SetDefault("ns3::HtConfiguration::LdpcSupported", BooleanValue(he));

    if (old)
    {
        Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(64));
    }

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
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(rss));
    YansWifiPhyHelper phy;
    auto air = channel.Create();
    if (hidden)
    {
        auto walls = CreateObject<MatrixPropagationLossModel>();
        walls->SetDefaultLoss(36); // from 16 dBm
        for (uint32_t i = 1; i <= stations; ++i)
        {
            for (uint32_t j = i + 1; j <= stations; ++j)
            {
                walls->SetLoss(nodes.Get(i)->GetObject<MobilityModel>(), nodes.Get(j)->GetObject<MobilityModel>(), 300);
            }
        }
        air->SetPropagationLossModel(walls);
    }
    phy.SetChannel(air);
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(streams));
    WifiHelper wifi;
    wifi.SetStandard(he ? WIFI_STANDARD_80211ax : WIFI_STANDARD_80211ac);
    const auto rates = [&wifi, rts, minstrel](const std::string& data) {
        const UintegerValue threshold(rts ? 0 : 4692480);
        if (minstrel)
        {
            wifi.SetRemoteStationManager("ns3::MinstrelHtWifiManager", "RtsCtsThreshold", threshold);
            return;
        }
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode",
                                     StringValue("OfdmRate24Mbps"), "NonUnicastMode", StringValue("OfdmRate6Mbps"),
                                     "RtsCtsThreshold", threshold);
    };
    rates((he ? "HeMcs" : "VhtMcs") + std::to_string(mcs));
    if (he)
    {
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(guard)));
    }
    WifiMacHelper mac;
    const uint32_t most = he ? 6500631 : 1048575;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true),
                "BE_MaxAmpduSize", UintegerValue(learn > 0 ? 2 * (payload + 74) : most), "BE_MaxAmsduSize", UintegerValue(0));
    NetDeviceContainer devices;
    for (uint32_t i = 0; i <= stations; ++i)
    {
        if (old && i == stations)
        {
            wifi.SetStandard(WIFI_STANDARD_80211ac);
            rates("VhtMcs8");
        }
        devices.Add(wifi.Install(phy, mac, nodes.Get(i)));
    }
    InternetStackHelper().Install(nodes);
    auto interfaces = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto layer = devices.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
        if (layer->GetRootQueueDiscOnDevice(devices.Get(i))) // assigned with the address
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
    if (learn > 0)
    {
        Simulator::Schedule(Seconds(learn), [devices, most] {
            for (uint32_t i = 0; i < devices.GetN(); ++i)
            {
                DynamicCast<WifiNetDevice>(devices.Get(i))->GetMac()->SetAttribute("BE_MaxAmpduSize", UintegerValue(most));
            }
        });
    }
    run.Watch(devices);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        auto& flow = run.flows.emplace_back();
        const uint32_t from = down ? 0 : i, to = down ? i : 0;
        auto queue = DynamicCast<WifiNetDevice>(devices.Get(from))->GetMac()->GetQosTxop(AC_BE)->GetWifiMacQueue();
        flow.name = (down ? "down-n" : "up-n") + std::to_string(i);
        flow.payload = payload;
        flow.Connect(nodes.Get(from), nodes.Get(to), interfaces.GetAddress(to), kPort + i);
        // Two packets alone on the air: with the second ns-3 asks for a BlockAck agreement, which collides later.
        Simulator::ScheduleWithContext(from, MilliSeconds(2 * i), &Flow::Send, &flow);
        Simulator::ScheduleWithContext(from, MilliSeconds(2 * i), &Flow::Send, &flow);
        const auto receiver = Mac48Address::ConvertFrom(devices.Get(to)->GetAddress());
        if (load > 0)
        {
            auto gap = CreateObject<ExponentialRandomVariable>();
            gap->SetAttribute("Mean", DoubleValue(8.0 * payload / (1e6 * load)));
            Simulator::ScheduleWithContext(from, kAgreed + Seconds(gap->GetValue()), &Flow::SendEvery, &flow, gap);
            continue;
        }
        Simulator::ScheduleWithContext(from, kAgreed + MicroSeconds(7 * i), &Flow::SaturateTo, &flow, queue, waiting, receiver);
    }
    run.Play();
}
