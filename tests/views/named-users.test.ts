import { expect, test } from 'vitest'
import { usersNamedIn } from '../../server/modules/views/views-service.ts'

test.each<[string, string[]]>([
  ['', []],
  ['skill_id=a&range=30d', []],
  ['user_id=user:kim@example.com', ['user:kim@example.com']],
  ['user_id=user%3Akim%40example.com&x', ['user:kim@example.com']],
  ['%75ser_id=%75ser:kim', ['user:kim']],
  ['created_by=user%3Akim&user_id=user%3Akim', ['user:kim']],
  ['user_id=user:a&user_id=user:b', ['user:a', 'user:b']],
  ['users=user:a,user:b', ['user:a,user:b', 'user:a', 'user:b']],
  ['user_id=%22user%3Aa%22', ['user:a']],
  ['filters=%7B%22user_id%22%3A%5B%22user%3Aa%22%2C%22user%3Ab%22%5D%2C%22n%22%3A1%7D', ['user:a', 'user:b']],
  // Only values name somebody, and only as a whole.
  ['user:a=1&group_by=user&note=about+user:a', []],
  ['user_id=%E0%A4%A', []],
  ['q=%5B', []],
])('%s', (query, users) => {
  expect(usersNamedIn(query)).toEqual(users)
})
