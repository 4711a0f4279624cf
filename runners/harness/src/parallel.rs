//! Items worked through by several threads, each with a state of its own.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Calls `work` on each item, on up to `jobs` threads that take the items in their order.
///
/// The first thread works with `first`, each further one with what `another` makes; where that
/// makes nothing, the other threads do its share. Each result and the place of its item go to
/// `take`, on the calling thread and in the order in which they are ready. After the first error,
/// or when `take` breaks, no further item is begun; those that are begun are finished and taken.
///
/// # Errors
/// The first error of `work`.
pub fn for_each<T, S, R, E>(
    items: &[T],
    jobs: NonZeroUsize,
    first: &mut S,
    another: impl Fn() -> Option<S> + Sync,
    work: impl Fn(&mut S, &T) -> Result<R, E> + Sync,
    mut take: impl FnMut(usize, R) -> ControlFlow<()>,
) -> Result<(), E>
where
    T: Sync,
    S: Send,
    R: Send,
    E: Send,
{
    let next = AtomicUsize::new(0);
    let stop = || next.store(items.len(), Ordering::Relaxed);
    let work_off = |state: &mut S, results: &mpsc::Sender<(usize, Result<R, E>)>| loop {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(place) else { return };
        let result = work(state, item);
        if result.is_err() {
            stop();
        }
        if results.send((place, result)).is_err() {
            return;
        }
    };
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 1..jobs.get().min(items.len()) {
            let (sender, another, work_off) = (sender.clone(), &another, &work_off);
            scope.spawn(move || {
                if let Some(mut state) = another() {
                    work_off(&mut state, &sender);
                }
            });
        }
        let work_off = &work_off;
        scope.spawn(move || work_off(first, &sender));
        let mut outcome = Ok(());
        for (place, result) in results {
            match result {
                Ok(result) => {
                    if take(place, result).is_break() {
                        stop();
                    }
                }
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome
    })
}

/// The results of `work` on each item, in the order of the items. `done` is called with the place
/// of each item that is done.
///
/// # Errors
/// The first error of `work`.
pub fn map<T, R, E>(
    items: &[T],
    jobs: NonZeroUsize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
    mut done: impl FnMut(usize),
) -> Result<Vec<R>, E>
where
    T: Sync,
    R: Send,
    E: Send,
{
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    for_each(
        items,
        jobs,
        &mut (),
        || Some(()),
        |(), item| work(item),
        |place, result| {
            results[place] = Some(result);
            done(place);
            ControlFlow::Continue(())
        },
    )?;
    Ok(results.into_iter().flatten().collect())
}

/// One thread for each core.
#[must_use]
pub fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn jobs(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).expect("not zero")
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        let work = |item: &u64| {
            thread::sleep(std::time::Duration::from_millis(item % 3));
            Ok::<_, Infallible>(item * 2)
        };
        let mut done = 0;
        let results = map(&items, jobs(4), work, |_| done += 1).expect("it cannot fail");
        assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert_eq!(done, 50);
    }

    #[test]
    fn after_an_error_no_further_item_is_begun() {
        let begun = AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *item == 3 { Err(*item) } else { Ok(()) }
        };
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(map(&items, jobs(1), work, |_| {}), Err(3));
        assert_eq!(begun.load(Ordering::Relaxed), 4);
        assert_eq!(map(&items, jobs(2), work, |_| {}), Err(3));
    }

    #[test]
    fn what_was_begun_before_a_break_is_taken() {
        let items: Vec<usize> = (0..100).collect();
        let mut taken = Vec::new();
        let work = |_: &mut (), item: &usize| Ok::<_, Infallible>(*item);
        let take = |place, result| {
            taken.push((place, result));
            if place == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        for_each(&items, jobs(3), &mut (), || Some(()), work, take).expect("it cannot fail");
        assert!((0..=5).all(|place| taken.contains(&(place, place))), "{taken:?}");
    }

    #[test]
    fn one_thread_does_all_where_no_other_can_be_made() {
        let items = [1, 2, 3];
        let (mut sum, work) = (0, |sum: &mut i32, item: &i32| {
            *sum += item;
            Ok::<_, Infallible>(())
        });
        let taken =
            for_each(&items, jobs(3), &mut sum, || None, work, |_, ()| ControlFlow::Continue(()));
        taken.expect("it cannot fail");
        assert_eq!(sum, 6);
    }
}
