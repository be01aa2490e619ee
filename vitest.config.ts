import { defineConfig } from 'vitest/config'

const shared = {
  pool: 'forks' as const,
  globalSetup: ['tests/support/global-setup.ts'],
  testTimeout: 20_000,
  hookTimeout: 60_000,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'suite',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/full/**', 'tests/valkey/**'],
        },
      },
      // Needs redis-server or valkey-server.
      {
        test: { ...shared, name: 'valkey', include: ['tests/valkey/**/*.test.ts'], testTimeout: 120_000 },
      },
      // Crashes, floods and long pagings: minutes, not seconds.
      {
        test: {
          ...shared,
          name: 'full',
          include: ['tests/full/**/*.test.ts'],
          testTimeout: 15 * 60_000,
          hookTimeout: 5 * 60_000,
        },
      },
    ],
  },
})
