import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createBodyMemoryLimit } from '../../server/http/body/body-memory-limit.ts'

const mebibyte = 1024 * 1024
const answer = () => Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse
const unavailable = expect.objectContaining({ slug: 'hub-unavailable', retryAfterSeconds: 1 })

test('holds what has arrived until the answers are closed', () => {
  const budget = createBodyMemoryLimit(10 * mebibyte)
  const first = answer()
  const [one, other] = [budget.bodyOf(first), budget.bodyOf(answer())]
  for (let count = 0; count < 6; count++) one.hold(mebibyte)
  other.hold(4 * mebibyte)
  expect(() => other.hold(1)).toThrow(unavailable)
  expect(() => budget.bodyOf(answer()).hold(mebibyte)).toThrow(unavailable)
  first.emit('close')
  budget.bodyOf(answer()).hold(6 * mebibyte)
  expect(() => budget.bodyOf(answer()).hold(mebibyte)).toThrow(unavailable)
})

test('takes any body when it holds none, small ones always, and counts nothing for a connection that is gone', () => {
  const budget = createBodyMemoryLimit(mebibyte)
  budget.bodyOf(Object.assign(answer(), { closed: true })).hold(mebibyte)
  const only = budget.bodyOf(answer())
  for (let count = 0; count < 5; count++) only.hold(mebibyte)
  for (let count = 0; count < 100; count++) budget.bodyOf(answer()).hold(1024)
  const slow = budget.bodyOf(answer())
  for (let count = 0; count < 15; count++) slow.hold(1024)
  expect(() => slow.hold(1024)).toThrow(unavailable)
})

test('holds nothing of a body that was thrown away, once or twice', () => {
  const budget = createBodyMemoryLimit(2 * mebibyte)
  const thrownAway = answer()
  const body = budget.bodyOf(thrownAway)
  body.hold(mebibyte)
  body.release()
  thrownAway.emit('close')
  budget.bodyOf(answer()).hold(mebibyte)
  budget.bodyOf(answer()).hold(mebibyte)
  expect(() => budget.bodyOf(answer()).hold(16 * 1024)).toThrow(unavailable)
})
