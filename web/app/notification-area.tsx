import { lazy, Suspense, useEffect, useState } from 'react'
import { firstNotification } from '../components/notify.ts'

const Notifications = lazy(() => import('./notifications.tsx'))

/** Shows notifications. Most pages never show one, so its script loads with the first. */
export function NotificationArea() {
  const [asked, setAsked] = useState(false)
  useEffect(() => {
    const ask = () => setAsked(true)
    firstNotification.addEventListener('asked', ask, { once: true })
    return () => firstNotification.removeEventListener('asked', ask)
  }, [])
  return asked ? (
    <Suspense>
      <Notifications />
    </Suspense>
  ) : null
}
