"""Makes of Linux' mac80211_hwsim what the driver of a card is to mac80211.

hwsim is a driver without a card: it asks for no airtime queue limits (AQL) and no airtime fairness, does not say that a
frame was part of an aggregate, reports no airtime, and pulls packets only when one arrives. With these changes it does as
mt76 does (`drivers/net/wireless/mediatek/mt76/tx.c`): after a batch of statuses it pulls rounds until one yields nothing. The
medium's messages carry what a card would report, in attributes that hwsim does not read otherwise in them: the airtime of a
frame in microseconds (RADIO_ID), and that its status ends a batch (CHANNELS).
"""

FEATURES = "".join(f"\twiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_{name});\n" for name in ("AQL", "AIRTIME_FAIRNESS"))
BESIDE = "\twiphy_ext_feature_set(hw->wiphy, NL80211_EXT_FEATURE_VHT_IBSS);\n"
OPERATION = "\t.wake_tx_queue = ieee80211_handle_wake_tx_queue,"
COMMON = "#define HWSIM_COMMON_OPS"
WAITING = "#define MAX_QUEUE 200\n"
STATUS = """	ieee80211_tx_status_irqsafe(data2->hw, skb);
	return 0;
out:
	return -EINVAL;
"""
STATUS_FUNCTION = "static int hwsim_tx_info_frame_received_nl(struct sk_buff *skb_2,\n\t\t\t\t\t   struct genl_info *info)\n"
RECEIVED = "	mac80211_hwsim_rx(data2, &rx_status, skb);\n"
PULL = """
/* mt76_txq_schedule */
static void hwsim_pull(struct ieee80211_hw *hw, u8 ac)
{
	struct ieee80211_tx_control control = {};
	struct ieee80211_txq *txq;
	struct sk_buff *skb;
	int pulled;

	do {
		pulled = 0;
		ieee80211_txq_schedule_start(hw, ac);
		while ((txq = ieee80211_next_txq(hw, ac))) {
			control.sta = txq->sta;
			while ((skb = ieee80211_tx_dequeue(hw, txq))) {
				mac80211_hwsim_tx(hw, &control, skb);
				pulled++;
			}
			ieee80211_return_txq(hw, txq, false);
		}
		ieee80211_txq_schedule_end(hw, ac);
	} while (pulled);
}

static void hwsim_wake_tx_queue(struct ieee80211_hw *hw, struct ieee80211_txq *txq)
{
	hwsim_pull(hw, txq->ac);
}

static void hwsim_charge(struct ieee80211_hw *hw, struct ieee80211_hdr *hdr, const u8 *peer, const u8 *own,
			 struct nlattr *airtime, bool sent)
{
	struct ieee80211_sta *sta;

	if (!airtime || !ieee80211_is_data_qos(hdr->frame_control))
		return;
	rcu_read_lock();
	sta = ieee80211_find_sta_by_ifaddr(hw, peer, own);
	if (sta)
		ieee80211_sta_register_airtime(sta, ieee80211_get_tid(hdr), sent ? nla_get_u32(airtime) : 0,
					       sent ? 0 : nla_get_u32(airtime));
	rcu_read_unlock();
}

"""
DONE = """	if (txi->flags & IEEE80211_TX_CTL_AMPDU) {
		txi->flags |= IEEE80211_TX_STAT_AMPDU;
		txi->status.ampdu_len = 1;
		txi->status.ampdu_ack_len = !!(txi->flags & IEEE80211_TX_STAT_ACK);
	}
	local_bh_disable();
	hdr = (struct ieee80211_hdr *)skb->data;
	hwsim_charge(data2->hw, hdr, hdr->addr1, hdr->addr2, info->attrs[HWSIM_ATTR_RADIO_ID], true);
	ieee80211_tx_status_skb(data2->hw, skb);
	if (info->attrs[HWSIM_ATTR_CHANNELS])
		for (i = 0; i < IEEE80211_NUM_ACS; i++)
			hwsim_pull(data2->hw, i);
	local_bh_enable();
	return 0;
out:
	return -EINVAL;
"""
CHARGE = """	local_bh_disable();
	hwsim_charge(data2->hw, hdr, hdr->addr2, hdr->addr1, info->attrs[HWSIM_ATTR_RADIO_ID], false);
	local_bh_enable();
"""
CHANGES = [
    (BESIDE, BESIDE + FEATURES),
    (WAITING, WAITING.replace("200", "20000")),
    (COMMON, PULL.lstrip() + COMMON),
    (OPERATION, OPERATION.replace("ieee80211_handle_wake_tx_queue", "hwsim_wake_tx_queue")),
    (STATUS, DONE),
    (RECEIVED, CHARGE + RECEIVED),
]


def changed(text):
    """The driver's source with these changes."""
    for old, new in CHANGES:
        assert text.count(old) == 1, f"hwsim has no longer, or more than once: {old}"
        text = text.replace(old, new)
    return text
