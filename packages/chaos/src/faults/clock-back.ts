import { jumpClock } from '../world/jump-clock.js';

/** A service's clock is ten minutes behind (F27). */
const clockBack = jumpClock({ name: 'clock-back' }, -1);

export default clockBack;
