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
