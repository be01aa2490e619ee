import { timingSafeEqual } from 'node:crypto'

/** Whether two texts are the same, in a time that tells nothing about where they differ. */
export function constantTimeEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
