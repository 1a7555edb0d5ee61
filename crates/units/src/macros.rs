//! Macros of all crates: early returns of refusals, and structs of settings with the default beside each field.

/// Returns the `refusal` from the function if the condition `wrong` holds.
#[macro_export]
macro_rules! refuse_if {
    ($wrong:expr, $refusal:expr) => {
        if $wrong {
            return $refusal;
        }
    };
}

/// Attributes of an enum of a scenario whose variants are words, as in `#[apply(choice)]`.
#[macro_export]
macro_rules! choice {
    ($($item:tt)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        $($item)*
    };
}

/// Attributes of a struct that is a table of a scenario, as in `#[apply(table)]`.
#[macro_export]
macro_rules! table {
    ($($item:tt)*) => {
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $($item)*
    };
}

/// Attributes of a [`table!`] of which no key is required.
#[macro_export]
macro_rules! settings {
    ($($item:tt)*) => {
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        $($item)*
    };
}

/// Makes a struct and its [`Default`]. `name: Type = value` gives a field its default. With `name: Type => value`,
/// `Type::new` checks the bounds of the value at compile time. A field without a value has the default of its type.
/// `struct Name as "Title"` is a table of a scenario, with this title in the schema.
#[macro_export]
macro_rules! with_defaults {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident as $title:tt { $($fields:tt)* }) => {
        $crate::with_defaults! {
            $(#[$meta])*
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = $title))]
            #[serde(default, deny_unknown_fields)]
            $vis struct $Name { $($fields)* }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $Name:ident {
            $($(#[$of:meta])* $of_vis:vis $field:ident: $Type:ty $(= $value:expr)? $(=> $bounded:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $Name {
            $($(#[$of])* $of_vis $field: $Type,)*
        }

        impl ::core::default::Default for $Name {
            fn default() -> Self {
                Self { $($field: $crate::with_defaults!(@ $Type $(= $value)? $(=> $bounded)?),)* }
            }
        }
    };
    (@ $Type:ty = $value:expr) => { $value };
    (@ $Type:ty => $bounded:expr) => { const { <$Type>::new($bounded).expect("within its bounds") } };
    (@ $Type:ty) => { <$Type as ::core::default::Default>::default() };
}
