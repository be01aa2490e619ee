import { Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import FirstArrival from '../../components/quick-start/first-arrival.tsx'

const QuickStart = lazy(() => import('../../components/quick-start/quick-start.tsx'))

/** Shows how to send the first event, and waits for it. */
export function FirstEvent() {
  return (
    <Stack gap="sm">
      <FirstArrival />
      <Suspense fallback={null}>
        <QuickStart />
      </Suspense>
    </Stack>
  )
}
