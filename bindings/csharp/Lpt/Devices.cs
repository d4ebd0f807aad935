namespace Lpt
{
    /// <summary>Descriptions of devices.</summary>
    public static unsafe class Devices
    {
        /// <summary>Describes a device. A missing device is not an error: IsUsable is 0, and ReasonOf returns the reason.</summary>
        public static DeviceInfo Describe(Device device, int index = 0)
        {
            var description = DeviceInfo.Default();
            var status = Native.lpt_device_describe(Context.None, device, index, &description);
            if (status != Status.Ok)
                throw new LptException(status, string.Format("device is {0}, index {1}: expected a device", (int)device, index));
            return description;
        }

        /// <summary>Returns the name that the driver reports.</summary>
        public static string NameOf(DeviceInfo description) { return Text.Of(description.Name); }

        /// <summary>Returns the reason why the device is not usable; empty if it is.</summary>
        public static string ReasonOf(DeviceInfo description) { return Text.Of(description.Reason); }
    }
}
