import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as locks from '../../server/db/advisory-locks.ts'

test('no two locks are the same', () => {
  const values = Object.values(locks).map(String)
  expect(values.length).toBeGreaterThan(10)
  expect(new Set(values).size).toBe(values.length)
})

test('the database takes the lock of content keys that the service takes', () => {
  const migration = new URL('../../server/db/migrations/0009-onboarding.sql', import.meta.url)
  expect(readFileSync(migration, 'utf8')).toContain(`pg_advisory_xact_lock_shared(${locks.contentKeysLockClass},`)
})
