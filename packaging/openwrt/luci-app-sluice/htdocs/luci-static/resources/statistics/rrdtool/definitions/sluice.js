'use strict';
'require baseclass';

// Graphs of what sluice-collectd reports, one set for each queue.
return baseclass.extend({
	title: _('Queues that Sluice governs'),

	rrdargs: function(graph, host, plugin, plugin_instance, dtype) {
		return [ {
			title: '%H: delay in the queue of %pi',
			vlabel: 'ms',
			number_format: '%5.1lf ms',
			data: {
				types: [ 'latency' ],
				options: {
					latency_queue: { title: 'mean', color: '0000ff', overlay: true, noarea: true, transform_rpn: '1000,*' },
					latency_target: { title: 'target', color: '888888', overlay: true, noarea: true, transform_rpn: '1000,*' }
				}
			}
		}, {
			title: '%H: packets in the queue of %pi',
			vlabel: 'packets',
			number_format: '%5.0lf',
			data: {
				types: [ 'queue_length' ],
				options: {
					queue_length_waiting: { title: 'waiting', color: '0000ff', overlay: true },
					queue_length_limit: { title: 'limit', color: 'ff0000', overlay: true, noarea: true }
				}
			}
		}, {
			title: '%H: traffic of the queue of %pi',
			vlabel: 'kb/s',
			number_format: '%5.0lf kb/s',
			data: {
				types: [ 'total_bytes' ],
				options: {
					total_bytes_sent: { title: 'sent', color: '00aa00', overlay: true, transform_rpn: '125,/' },
					total_bytes_dropped: { title: 'dropped', color: 'ff0000', overlay: true, noarea: true, transform_rpn: '125,/' }
				}
			}
		} ];
	}
});
