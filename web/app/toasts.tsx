import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

export default function ShownNotifications() {
  return <Notifications position="bottom-right" />
}
