//! Turns raw pointers into values, and errors and panics into texts. Pointers are dereferenced nowhere else.

use crate::Air;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// Why a call is refused.
pub(crate) type Refused = String;

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Makes a call. If it fails or panics, returns `failed` and keeps the reason as the thread's last error.
pub(crate) fn guarded<T>(failed: T, call: impl FnOnce() -> Result<T, Refused>) -> T {
    let refused = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(given)) => return given,
        Ok(Err(refused)) => refused,
        Err(panic) => format!("this is a fault in Sluice: {}", said(&*panic)),
    };
    // A thread that is ending has no last error any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some(plain(&refused)));
    failed
}

/// Returns the message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic")
}

pub(crate) fn last_error() -> *const c_char {
    let told = LAST.try_with(|last| last.borrow().as_ref().map(|text| text.as_ptr()));
    told.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Makes a text for C. Errors: the text has a zero byte.
pub(crate) fn c_text(text: &str) -> Result<CString, Refused> {
    CString::new(text).map_err(|_| format!("{text:?} contains a NUL byte, which would end a C string"))
}

/// Makes a text for C, without its zero bytes.
fn plain(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Returns a caller's texts. Each comes with its name for errors.
///
/// # Safety
/// Each text is NULL, or ends with a zero byte and does not change during the call.
pub(crate) unsafe fn texts<'t, const N: usize>(given: [(*const c_char, &str); N]) -> Result<[&'t str; N], Refused> {
    let mut texts = [""; N];
    for ((given, name), text) in given.into_iter().zip(&mut texts) {
        if given.is_null() {
            return Err(format!("`{name}` is NULL: expected a string"));
        }
        // SAFETY: it is not NULL; the rest is the caller's promise.
        let given = unsafe { CStr::from_ptr(given) };
        *text = given.to_str().map_err(|_| format!("`{name}` is not valid UTF-8: {:?}", given.to_string_lossy()))?;
    }
    Ok(texts)
}

/// Returns bytes from a caller. NULL is allowed if there are none.
///
/// # Safety
/// `bytes` is NULL, or has `length` bytes that do not change during the call.
pub(crate) unsafe fn bytes<'b>(bytes: *const u8, length: usize) -> Result<&'b [u8], Refused> {
    if length == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() {
        return Err(format!("the pointer is NULL, but the length is {length} B"));
    }
    if isize::try_from(length).is_err() {
        return Err(format!("a length of {length} B is larger than any object in memory"));
    }
    // SAFETY: it is not NULL, and no slice is too long; the rest is the caller's promise.
    Ok(unsafe { slice::from_raw_parts(bytes, length) })
}

/// Returns a caller's memory for a value.
///
/// # Safety
/// `place` is NULL, or it can be written to during the call.
pub(crate) unsafe fn place<'p, T>(place: *mut T) -> Result<&'p mut MaybeUninit<T>, Refused> {
    if !place.is_aligned() {
        return Err("the pointer to the delivery is not aligned".to_owned());
    }
    // SAFETY: the pointer is aligned, and valid as the caller promises; the memory need not be initialised.
    unsafe { place.cast::<MaybeUninit<T>>().as_mut() }.ok_or_else(|| "the pointer to the delivery is NULL".to_owned())
}

/// Makes a call with its air. If the call fails, returns `failed`.
///
/// # Safety
/// `air` is NULL, or comes from `sluice_open` and was not [taken]; no other thread uses it.
pub(crate) unsafe fn on<T>(air: *mut Air, failed: T, call: impl FnOnce(&mut Air) -> Result<T, Refused>) -> T {
    guarded(failed, || {
        if !air.is_aligned() {
            return Err("the pointer is not an air: sluice_open returns one".to_owned());
        }
        // SAFETY: it is aligned; the rest is the caller's promise.
        call(unsafe { air.as_mut() }.ok_or("the air is NULL: sluice_open returns one")?)
    })
}

/// Takes an air back; `None` for NULL.
///
/// # Safety
/// As for [`on`].
pub(crate) unsafe fn taken(air: *mut Air) -> Result<Option<Box<Air>>, Refused> {
    if !air.is_aligned() {
        return Err("the pointer is not an air: sluice_open returns one".to_owned());
    }
    // SAFETY: it is not NULL, and comes from `sluice_open` as the caller promises.
    Ok((!air.is_null()).then(|| unsafe { Box::from_raw(air) }))
}
