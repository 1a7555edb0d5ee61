'use strict';
'require view';
'require fs';
'require poll';

const HEADS = [ _('Interface'), _('State'), _('Queue'), _('Controller'), _('Limit'), _('Waiting'), _('Delay'), _('Target'), _('Dropped') ];

// Events that are shown.
const SHOWN = 50;

const milliseconds = (seconds) => (seconds == null) ? '-' : `${(1e3 * seconds).toFixed(1)} ms`;

// A queue's texts, in the order of HEADS.
function texts(queue) {
	const last = queue.last, totals = queue.totals;
	return [
		(queue.place == 'root') ? queue.device : `${queue.device} ${queue.place}`,
		queue.why ? `${queue.state}: ${queue.why}` : queue.state,
		queue.kind || '-',
		queue.controller,
		(queue.limit_bytes != null) ? `${queue.limit_bytes} B` : `${queue.limit_packets}`,
		last ? `${last.backlog_packets}` : '-',
		milliseconds(last?.sojourn_s?.mean),
		milliseconds(queue.target_delay_s),
		totals.arrived_packets ? `${(100 * totals.dropped_packets / totals.arrived_packets).toFixed(2)} %` : '-'
	];
}

// A string in a list of children is text; by itself E() would take it for HTML, and it comes from other programs.
const row = (tag, of) => E('tr', { 'class': (tag == 'th') ? 'tr table-titles' : 'tr' }, of.map((text) => E(tag, { 'class': tag }, [ text ])));

return view.extend({
	// What all agents govern; null if none runs.
	load: function() {
		return fs.exec('/usr/sbin/sluice', [ 'status', '--json' ])
			.then((told) => (told.code == 0) ? JSON.parse(told.stdout) : null);
	},

	show: function(node, queues) {
		const events = (queues || []).flatMap((queue) => queue.events).sort((a, b) => (a.at < b.at) ? 1 : -1).slice(0, SHOWN);
		node.replaceChildren(
			queues
				? E('table', { 'class': 'table' }, [ row('th', HEADS), ...queues.map((queue) => row('td', texts(queue))) ])
				: E('em', {}, [ _('No agent runs: set enabled in /etc/config/sluice, and start its service.') ]),
			E('h3', {}, [ _('Events, the newest first') ]),
			E('pre', {}, [ events.map((event) => `${event.at} ${event.device} ${event.what}: ${event.words}`).join('\n') ]));
	},

	render: function(queues) {
		const node = E('div', { 'class': 'cbi-section' });
		this.show(node, queues);
		poll.add(() => this.load().then((now) => this.show(node, now)), 2);
		return E('div', {}, [ E('h2', {}, [ _('Queues that Sluice governs') ]), node ]);
	},

	handleSaveApply: null,
	handleSave: null,
	handleReset: null
});
