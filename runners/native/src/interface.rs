//! From the words on the command line to a loaded subject. Each interface has a folder, and
//! registers here.

mod emm;
mod nep49;
mod place;

use crate::protocol::Refused;
use crate::subject::Subject;

/// Loads a subject of an interface.
pub(crate) fn load(interface: &str, subject: &str) -> Result<Box<dyn Subject>, Refused> {
    match interface {
        "emm" => Ok(Box::new(emm::load(subject)?)),
        "nep49" => Ok(Box::new(nep49::load(subject)?)),
        "place" => Ok(Box::new(place::load(subject)?)),
        _ => {
            let message =
                format!("the native worker knows the sides emm, nep49 and place, not {interface}");
            Err(Refused::new("host", message, ""))
        }
    }
}
