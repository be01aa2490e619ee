import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDemoStore, progressEveryMs } from '../../web/pages/command-center/demo/demo-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function observed() {
  const store = createDemoStore()
  const onState = vi.fn()
  const onProgress = vi.fn()
  store.state.subscribe(onState)
  store.progress.subscribe(onProgress)
  return { store, onState, onProgress }
}

const at = (done: number) => ({ step: 'Records', done, total: 100 })

test('progress does not notify those who subscribe to the state, and leaves the state the same object', () => {
  const { store, onState, onProgress } = observed()
  store.enter({ state: 'loading' })
  const state = store.state.get()
  store.tick(at(1))
  vi.advanceTimersByTime(progressEveryMs)
  store.tick(at(2))
  expect(onProgress).toHaveBeenCalledTimes(2)
  expect(onState).toHaveBeenCalledTimes(1)
  expect(store.state.get()).toBe(state)
})

test('of many ticks the first is published at once, the others at intervals, and the last one always', () => {
  const { store, onProgress } = observed()
  store.enter({ state: 'loading' })
  store.tick(at(1))
  expect(store.progress.get()).toEqual(at(1))
  for (let done = 2; done <= 50; done += 1) store.tick(at(done))
  expect(store.progress.get()).toEqual(at(1))
  expect(onProgress).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(progressEveryMs)
  expect(store.progress.get()).toEqual(at(50))
  vi.advanceTimersByTime(10 * progressEveryMs)
  expect(onProgress).toHaveBeenCalledTimes(2)
  expect(vi.getTimerCount()).toBe(0)
})

test('the next state starts without the progress of the last one', () => {
  const { store } = observed()
  store.enter({ state: 'loading' })
  store.tick(at(1))
  store.tick(at(2))
  store.enter({ state: 'failed', error: new Error('no response') })
  vi.advanceTimersByTime(progressEveryMs)
  expect(store.progress.get()).toBeUndefined()
  expect(store.state.get()).toMatchObject({ state: 'failed' })
})
