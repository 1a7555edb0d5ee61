//! Registry of disciplines: one list, from which macros make the types. A new discipline needs its file, its module and
//! its entry in the list; no other crate changes.

/// Turns the list into [`DisciplineName`](crate::DisciplineName), `Tables`, `AnyDiscipline` and `for_each_discipline!`.
///
/// The list stands beside the modules, and beside the plain queue of the module `fifo`, which has no table. An entry
/// has documentation, the module with its `Params` (also the name of its table), its name in a scenario, perhaps
/// another spelling, its name in Rust, and its type for packets `P`.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $module:ident, $name:literal $(or $alias:literal)?: $Kind:ident = $Type:ty,)*) => {
        registry::disciplines! {
            @with_dollar ($) $($(#[$doc])* $module, $name $(or $alias)?: $Kind = $Type,)*
        }
    };
    (
        @with_dollar ($d:tt)
        $($(#[$doc:meta])* $module:ident, $name:literal $(or $alias:literal)?: $Kind:ident = $Type:ty,)*
    ) => {
        /// All disciplines.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Discipline"))]
        pub enum DisciplineName {
            /// FIFO that drops arriving packets at the limit.
            #[default]
            #[serde(rename = "drop-tail")]
            DropTail,
            /// FIFO that drops the oldest packets at the limit.
            #[serde(rename = "drop-head")]
            DropHead,
            $($(#[$doc])* #[serde(rename = $name $(, alias = $alias)?)] $Kind,)*
            /// The discipline of this name that the program has [registered](crate::register).
            #[serde(skip)]
            Own(&'static str),
        }

        impl DisciplineName {
            /// All disciplines of Sluice, in the order of the list.
            pub const ALL: &'static [Self] = &[Self::DropTail, Self::DropHead, $(Self::$Kind),*];

            /// Returns the name as a scenario writes it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::DropTail => "drop-tail",
                    Self::DropHead => "drop-head",
                    $(Self::$Kind => $name,)*
                    Self::Own(name) => name,
                }
            }
        }

        /// The tables of the disciplines, each optional. Those of disciplines that are not in use are ignored.
        #[derive(Clone, Debug)]
        pub(crate) struct Tables {
            $(pub(crate) $module: Option<$module::Params>,)*
            pub(crate) own: serde_json::Map<String, serde_json::Value>,
        }

        /// Any discipline of the registry, with the packets that it holds.
        #[derive(Debug)]
        pub(crate) enum AnyDiscipline<P> {
            /// Drop-tail or drop-head.
            Fifo(fifo::Fifo<P>),
            // These are boxed: there are many queues, and most of them are FIFOs.
            $($(#[$doc])* $Kind(Box<$Type>),)*
            Own(Box<own::OwnQueue<P>>),
        }

        /// Calls the same method of a discipline of any kind.
        macro_rules! each {
            ($d any:expr, $d held:ident => $d value:expr) => {
                match $d any {
                    Self::Fifo($d held) => $d value,
                    $(Self::$Kind($d held) => $d value,)*
                    Self::Own($d held) => $d value,
                }
            };
        }

        impl<P: Packet> AnyDiscipline<P> {
            /// Builds the discipline called `name` with its table in `tables`; without a table the defaults apply.
            /// Errors: names the key of the first setting that cannot be used.
            pub(crate) fn new(name: DisciplineName, tables: &Tables, setup: &Setup) -> Result<Self, Invalid> {
                Ok(match name {
                    DisciplineName::DropTail => Self::Fifo(fifo::Fifo::new(fifo::End::Tail, setup.purge)),
                    DisciplineName::DropHead => Self::Fifo(fifo::Fifo::new(fifo::End::Head, setup.purge)),
                    $(DisciplineName::$Kind => {
                        if setup.purge == Some(Purge::Tail) && !<$Type as Discipline<P>>::PURGES_TAIL {
                            return Err(Invalid::new("purge", concat!("must be head or none with ", $name)));
                        }
                        let given = tables.$module.clone().unwrap_or_default();
                        let built = <$Type as Discipline<P>>::new(&given, setup);
                        Self::$Kind(Box::new(built.map_err(|invalid| invalid.within(stringify!($module)))?))
                    })*
                    DisciplineName::Own(name) => Self::Own(Box::new(own::OwnQueue::new(name, &tables.own, setup)?)),
                })
            }

            pub(crate) fn name(&self) -> DisciplineName {
                match self {
                    Self::Fifo(fifo) if fifo.overflow == fifo::End::Head => DisciplineName::DropHead,
                    Self::Fifo(_) => DisciplineName::DropTail,
                    $(Self::$Kind(_) => DisciplineName::$Kind,)*
                    Self::Own(held) => DisciplineName::Own(held.name),
                }
            }

            pub(crate) fn plain(&self) -> Option<&fifo::Fifo<P>> {
                if let Self::Fifo(fifo) = self { Some(fifo) } else { None }
            }

            // This is inlined: a call for each packet would cost an aggregating station 1 %.
            #[inline(always)]
            pub(crate) fn enqueue(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
                if let Self::Fifo(fifo) = self {
                    fifo.enqueue(packet, cx);
                } else {
                    self.enqueue_any(packet, cx);
                }
            }

            // This is apart from the plain queue, whose callers stay short without the code of other disciplines.
            #[inline(never)]
            fn enqueue_any(&mut self, packet: P, cx: &mut Context<impl FnMut(P)>) {
                each!(self, held => held.enqueue(packet, cx))
            }

            pub(crate) fn make_way(&mut self, cx: &mut Context<impl FnMut(P)>) {
                each!(self, held => held.make_way(cx))
            }

            pub(crate) fn put_first(&mut self, waiting: Waiting<P>) {
                each!(self, held => held.put_first(waiting))
            }

            // This is inlined: a call for each packet would cost an aggregating station 1 %.
            #[inline(always)]
            pub(crate) fn peek(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<&P> {
                each!(self, held => held.peek(index, cx))
            }

            #[inline]
            pub(crate) fn remove(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
                if let Self::Fifo(fifo) = self { fifo.remove(index, cx) } else { self.remove_any(index, cx) }
            }

            // This is apart for the same reason as `enqueue_any`.
            #[inline(never)]
            fn remove_any(&mut self, index: usize, cx: &mut Context<impl FnMut(P)>) -> Option<Waiting<P>> {
                each!(self, held => held.remove(index, cx))
            }

            pub(crate) fn purge(&mut self, cx: &mut Context<impl FnMut(P)>) {
                each!(self, held => held.purge(cx))
            }

            pub(crate) fn discard_where(
                &mut self,
                unwanted: &mut impl FnMut(&P) -> bool,
                cx: &mut Context<impl FnMut(P)>,
            ) {
                each!(self, held => held.discard_where(unwanted, cx))
            }
        }

        /// Calls the macro `callback` once, with the tokens `before`, then `/// documentation` and `table: Params,` of
        /// every discipline that has a table.
        macro_rules! for_each_discipline {
            ($d callback:ident $d ($d before:tt)*) => {
                $d callback! { $d ($d before)* $($(#[$doc])* $module: crate::$module::Params,)* }
            };
        }

        pub(crate) use for_each_discipline;
    };
}

pub(crate) use disciplines;
