namespace Lpt
{
    /// <summary>What devices there are.</summary>
    public static unsafe class Devices
    {
        /// <summary>What a device is. One that is not there is no error: IsUsable is 0, and ReasonOf says why.</summary>
        public static DeviceInfo Describe(Device device, int index = 0)
        {
            var description = DeviceInfo.Default();
            var status = Native.lpt_device_describe(Context.None, device, index, &description);
            if (status != Status.Ok)
                throw new LptException(status, string.Format("device is {0}, index {1}: expected a device", (int)device, index));
            return description;
        }

        /// <summary>The name that its driver tells.</summary>
        public static string NameOf(DeviceInfo description) { return Text.Of(description.Name); }

        /// <summary>Why it is not usable; empty where it is.</summary>
        public static string ReasonOf(DeviceInfo description) { return Text.Of(description.Reason); }
    }
}
