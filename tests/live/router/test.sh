# Sluice's init script on a router with three radios: mac80211's own code, hostapd, and stand-ins for OpenWrt's userland
# (rc.common beside this file).
set -eu
log=/var/log/messages at=/var/run/procd/sluice

begins() { printf '%stest router::%s ... ' "${former-}" "$1" && former="ok
"; }
until_true() {
	for _ in $(seq 60); do
		! eval "$1" > /dev/null 2>&1 || return 0
		sleep 0.5
	done
	echo "not after half a minute: $1"
	sluice status || true
	cat "$log" /var/etc/sluice.toml
	exit 1
}
settings() { cat /sys/kernel/debug/ieee80211/phy"$1"/aql_t* && iw phy phy"$1" get txq | head -3; }
# Radios whose first interfaces are governed.
govern() {
	for phy in $1; do
		until_true "sluice status | grep '^phy$phy-ap0 .*governing' && [ '$before' != \"\$(settings $phy)\" ]"
	done
}
are_as_before() {
	for phy in 0 1 2; do until_true "[ '$before' = \"\$(settings $phy)\" ]"; done
	until_true "! ls /run/sluice/* && [ ! -e $at/runs ]"
}
attached() { until_true "[ \$(grep -c 'phy$1-ap0 attached' $log) = $2 ]"; }
# As reload_config: procd's trigger for `config.change` of these settings, which waits for a second.
changed() { sleep 1 && ! grep -qx "$1" "$at/triggers" || /etc/init.d/sluice reload; }
# As netifd and hostapd: takes a radio's interfaces away and makes so many networks.
wifi() {
	! [ -e "/run/ap$1" ] || { pid=$(cat "/run/ap$1") && kill "$pid" && until_true "! [ -e /proc/$pid ]"; }
	for device in $(iw dev | awk -v "phy=phy#$1" '/^phy/ { of = $1 } /Interface/ && of == phy { print $2 }'); do
		iw dev "$device" del
	done
	[ "$2" -gt 0 ] || return 0
	iw phy phy"$1" interface add phy"$1"-ap0 type managed
	printf '%s\n' "interface=phy$1-ap0" driver=nl80211 "ssid=home$1" hw_mode=g channel=1 wmm_enabled=1 > "/tmp/ap$1"
	[ "$2" = 1 ] || printf '%s\n' "bss=phy$1-ap1" "ssid=guests$1" "bssid=02:00:00:00:0$1:01" >> "/tmp/ap$1"
	hostapd -B -P "/run/ap$1" "/tmp/ap$1" > /tmp/said || { cat /tmp/said && exit 1; }
}

mkdir -p /etc/config /etc/init.d /etc/rc.d /var/etc /var/run /var/log
cd router
cp rc.common /etc && cp sluice.init /etc/init.d/sluice && cp sluice.config /etc/config/sluice && cp ../sluice /usr/sbin
chmod 755 /etc/rc.common /etc/init.d/sluice
touch "$log"
mount -t debugfs debugfs /sys/kernel/debug
modprobe mac80211 && rmmod mac80211
insmod /usr/lib/aql/mac80211.ko && insmod /usr/lib/aql/mac80211_hwsim.ko radios=3
before=$(settings 0)
for phy in 0 1 2; do wifi $phy 0; done
# The third radio comes later.
ip netns add away && iw phy phy2 set netns name away

begins "nothing runs before it is enabled"
/etc/init.d/sluice enable
/etc/rc.d/S95sluice boot
[ ! -e $at/pid ]

begins "at boot it waits for radios, and governs each"
sed -i "s/enabled '0'/enabled '1'/" /etc/config/sluice
/etc/rc.d/S95sluice boot
until_true "[ -e $at/pid ]"
sleep 3
wifi 0 1 && wifi 1 1
govern "0 1"

begins "it governs again after wifi reload"
wifi 0 1 && wifi 1 1
changed wireless
attached 0 2 && attached 1 2 && govern "0 1"

begins "a network is added and removed"
wifi 0 2
attached 0 3 && govern 0
wifi 0 1
attached 0 4 && attached 1 2 && govern "0 1"

begins "a radio comes later"
ip netns exec away iw phy phy2 set netns 1
wifi 2 1
govern "0 1 2"

begins "a wrong section disables itself alone"
printf "config queue 'wrong'\n\toption device 'wan'\n\toption backend 'bfp'\n" >> /etc/config/sluice
first=$(cat $at/pid)
changed sluice
until_true "grep 'ignores this table' $log"
govern "0 1 2"
[ "$first" = "$(cat $at/pid)" ]

begins "a killed agent comes back"
kill -9 "$first"
until_true "[ \$(cat $at/pid) != $first ]"
attached 0 5 && govern "0 1 2"

begins "switched off in its settings, it puts all back"
sed -i "s/enabled '1'/enabled '0'/" /etc/config/sluice
changed sluice
are_as_before

begins "stopped, it puts all back"
sed -i "s/enabled '0'/enabled '1'/" /etc/config/sluice
changed sluice
govern "0 1 2"
/etc/init.d/sluice disable
/etc/init.d/sluice stop
are_as_before
[ -z "$(ls /etc/rc.d)" ]
printf '%stest result: ok\n' "$former"
