'use strict';
'require view';
'require form';

// Options of a queue: how they are entered, their names in UCI and here, and what is there without them.
const QUEUE = [
	[ form.Flag, 'enabled', _('Enabled'), { default: '1', rmempty: false, editable: true } ],
	[ form.Value, 'device', _('Interfaces'), { rmempty: false, placeholder: '*wifi' } ],
	[ form.ListValue, 'backend', _('What holds packets'), { keys: [ '', 'knobs', 'txq', 'fifo' ] } ],
	[ form.Value, 'target_delay', _('Longest wait'), { placeholder: '100 ms' } ],
	[ form.Value, 'controller', _('Controller') ],
	[ form.Value, 'limit', _('Limit'), { placeholder: '1000', modalonly: true } ],
	[ form.Value, 'parent', _('Class of a shaper'), { placeholder: '1:10', modalonly: true } ],
	[ form.DynamicList, 'queue', _('Further settings of the queue'), { placeholder: 'discipline = "drop-tail"', modalonly: true } ],
	[ form.Flag, 'force', _('Also where nothing ever waits'), { modalonly: true } ],
	[ form.Flag, 'replace', _('Also instead of a queue that cannot be restored'), { modalonly: true } ]
];

return view.extend({
	render: function() {
		const map = new form.Map('sluice', _('Queues that Sluice governs'), _('What happens is shown at Status, Queues.'));
		const main = map.section(form.NamedSection, 'main', 'sluice');
		main.option(form.Flag, 'enabled', _('Enabled'));
		main.option(form.Value, 'metrics', _('Metrics on loopback')).placeholder = '127.0.0.1:9477';
		const queues = map.section(form.GridSection, 'queue', _('Queues'));
		queues.addremove = true;
		for (const [ kind, name, title, { keys, ...how } = {} ] of QUEUE) {
			const option = Object.assign(queues.option(kind, name, title), how);
			(keys || []).forEach((key) => option.value(key, key || _('automatic')));
		}
		return map.render();
	}
});
