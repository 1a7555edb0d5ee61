//! Registry of controllers: one list, from which macros make the types. A new controller needs its file, its module and
//! its line in the list; no other crate changes.

/// Turns the list of modules and types into [`Name`](crate::Name), [`Parameters`](crate::Parameters),
/// [`AnyController`](crate::AnyController) and [`for_each_controller!`](crate::for_each_controller).
macro_rules! controllers {
    ($($(#[$doc:meta])* $module:ident: $Type:ident,)*) => {
        registry::controllers! { @with_dollar ($) $($(#[$doc])* $module: $Type,)* }
    };
    (@with_dollar ($d:tt) $($(#[$doc:meta])* $module:ident: $Type:ident,)*) => {
        /// Names of all controllers; each is also the name of the controller's parameter table, such as `adth`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ControllerName"))]
        #[serde(rename_all = "snake_case")]
        pub enum Name {
            /// Fixed limit.
            #[default]
            None,
            $($(#[$doc])* $Type,)*
        }

        impl Name {
            /// All names.
            pub const ALL: &'static [Self] = &[Self::None, $(Self::$Type),*];

            /// Returns the name as a scenario writes it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::None => "none",
                    $(Self::$Type => stringify!($module),)*
                }
            }

            /// Returns the key of the target delay in the controller's table; `None` if the controller has no target.
            pub const fn target(self) -> Option<&'static str> {
                match self {
                    Self::None => None,
                    $(Self::$Type => <$module::$Type as $crate::Scheme>::TARGET,)*
                }
            }
        }

        /// The parameters of every controller, each optional. Those of controllers that are not in use are ignored, so
        /// that a sweep over controllers can keep all of them in one file.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct Parameters {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $module: Option<$module::Params>,)*
        }

        impl Parameters {
            /// Calls [`Scheme::idle`] for `key` in the table of the controller that is named `table`.
            pub fn idle(&self, table: &str, key: &str) -> Option<[&'static str; 2]> {
                match table {
                    $(stringify!($module) => <$module::$Type as Scheme>::idle(self.$module.as_ref()?, key),)*
                    _ => None,
                }
            }
        }

        /// Any controller of the registry.
        #[derive(Clone, Debug)]
        #[expect(clippy::large_enum_variant, reason = "nothing here is on the heap, tables neither")]
        pub enum AnyController {
            /// Fixed limit.
            None(none::Fixed),
            $($(#[$doc])* $Type($module::$Type),)*
        }

        /// Calls the same method, whichever controller it is.
        macro_rules! each {
            ($d any:expr, $d scheme:ident => $d value:expr) => {
                match $d any {
                    Self::None($d scheme) => $d value,
                    $(Self::$Type($d scheme) => $d value,)*
                }
            };
        }

        impl AnyController {
            /// Builds the controller `name` with its table in `parameters`; without the table the defaults apply.
            ///
            /// # Errors
            /// Names the first parameter of the controller that cannot be used.
            pub fn new(name: Name, parameters: &Parameters, site: &Site) -> Result<Self, Invalid> {
                Ok(match name {
                    Name::None => Self::None(none::Fixed::new(&(), site)?),
                    $(Name::$Type => {
                        let given = parameters.$module.clone().unwrap_or_default();
                        let scheme = <$module::$Type as Scheme>::new(&given, site);
                        Self::$Type(scheme.map_err(|invalid| invalid.within(stringify!($module)))?)
                    })*
                })
            }

            /// Returns the controller's name.
            pub const fn name(&self) -> Name {
                match self {
                    Self::None(_) => Name::None,
                    $(Self::$Type(_) => Name::$Type,)*
                }
            }

            /// See [`Scheme::begin_from`].
            pub fn begin_from(&mut self, limit: Limit) -> bool {
                each!(self, scheme => scheme.begin_from(limit))
            }

            /// See [`Scheme::available`].
            pub fn available(&self) -> Option<Rate> {
                each!(self, scheme => scheme.available())
            }

            /// See [`Scheme::real_time_rate`].
            pub fn real_time_rate(&self) -> Option<Rate> {
                each!(self, scheme => scheme.real_time_rate())
            }
        }

        impl Controller for AnyController {
            fn needs(&self) -> Needs {
                each!(self, scheme => scheme.needs())
            }

            fn begin(&self) -> Orders {
                each!(self, scheme => scheme.begin())
            }

            fn update(&mut self, seen: &Seen) -> Orders {
                each!(self, scheme => scheme.update(seen))
            }

            fn target_delay(&self) -> Option<Duration> {
                each!(self, scheme => scheme.target_delay())
            }

            /// Returns the warning with the setting's path within the queue's table.
            fn warning(&self) -> Option<Warning> {
                match self {
                    Self::None(fixed) => fixed.warning(),
                    $(Self::$Type(scheme) => scheme.warning().map(|warning| warning.within(stringify!($module))),)*
                }
            }
        }

        /// Error for an unknown controller name; its text lists the known names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct UnknownName;

        impl core::fmt::Display for UnknownName {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("no controller has this name; the names are")?;
                for (i, name) in Name::ALL.iter().enumerate() {
                    write!(f, "{} {name}", if i == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }

        impl core::error::Error for UnknownName {}

        impl core::fmt::Display for Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl core::str::FromStr for Name {
            type Err = UnknownName;
            fn from_str(text: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|name| name.as_str() == text).ok_or(UnknownName)
            }
        }

        /// Calls the macro `callback` once, with `/// documentation` and `name: Params,` for every controller that has
        /// parameters. It serves structs with an optional field per controller.
        #[macro_export]
        macro_rules! for_each_controller {
            ($d callback:ident) => {
                $d callback! { $($(#[$doc])* $module: $d crate::$module::Params,)* }
            };
        }
    };
}

pub(crate) use controllers;
