import { lazy, Suspense, useEffect, useState } from 'react'
import { firstToast } from '../components/toast.ts'

const Notifications = lazy(() => import('./toasts.tsx'))

/** Shows notifications. Most pages never show one, so its script loads with the first. */
export function ToastArea() {
  const [asked, setAsked] = useState(false)
  useEffect(() => {
    const ask = () => setAsked(true)
    firstToast.addEventListener('asked', ask, { once: true })
    return () => firstToast.removeEventListener('asked', ask)
  }, [])
  return asked ? (
    <Suspense>
      <Notifications />
    </Suspense>
  ) : null
}
