import { jumpClock } from '../world/jump-clock.js';

/** A service's clock is ten minutes ahead (F27). */
const clockAhead = jumpClock({ name: 'clock-ahead' }, 1);

export default clockAhead;
